import { createReceiverClient, mayConnectTo } from '@vault-and-tracker/service-kit/http/receiver'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { createDeliveryStore } from '../webhooks/deliveries.store.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createWebhookStore } from '../webhooks/webhooks.store.ts'
import { createWebhookKey, createWebhooks } from '../webhooks/webhooks.ts'
import type { Connections } from './connections.ts'

/** How long a change waits for its delivery. */
const DELIVER_EVERY_MS = 500
const EXPIRE_EVERY_MS = 60_000

/** Creates webhooks, and delivers their events in the background. */
export async function createWebhookParts(connections: Connections, inTurn: OwnerTurns) {
  const { config, db, rows, chainKeys, clock, sharedClock, logger, metrics, background } = connections
  const allowPrivate = config.WEBHOOK_ALLOW_PRIVATE
  const signingKey = createWebhookKey(await chainKeys.first())
  const webhooks = createWebhooks({
    ...{ store: createWebhookStore(db), rows, signingKey, inTurn, clock, sharedClock, allowPrivate },
    mayConnect: mayConnectTo(allowPrivate),
  })
  const onError = (error: unknown) => logger.warn({ err: error }, 'delivering webhooks failed; will retry')
  const webhookDeliveries = createDeliveries({
    ...{ store: createDeliveryStore(db), rows, signingKey, clock: sharedClock, onError },
    send: createReceiverClient({ allowPrivate }),
    onAttempt: metrics.webhookAttempted,
  })
  background.add({
    ...{ everyMs: DELIVER_EVERY_MS, task: webhookDeliveries.startDue, onError },
    atStop: webhookDeliveries.stop,
  })
  background.add({ everyMs: EXPIRE_EVERY_MS, task: webhookDeliveries.expire, onError })
  return { webhooks, webhookDeliveries }
}
