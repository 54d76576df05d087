import { randomBytes } from 'node:crypto'
import { importPrivateKey, type SigningKey } from '@vault-and-tracker/http-signatures'
import { createReceiverClient, mayConnectTo } from '@vault-and-tracker/service-kit/http/receiver'
import { Counter } from 'prom-client'
import { isApiError } from '../errors.ts'
import type { Events } from '../events/events.ts'
import { forNewTorrents, type SavedSearches } from '../saved-searches/saved-searches.ts'
import type { Search } from '../search/search.ts'
import { createDeliveryStore } from '../webhooks/deliveries.store.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createWebhookStore } from '../webhooks/webhooks.store.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import type { Connections } from './connections.ts'

const DELIVER_EVERY_MS = 1_000

export type WebhookUseCases = ReturnType<typeof createWebhookUseCases>

/** Creates webhooks, and delivers events to them in the background. */
export function createWebhookUseCases(
  { config, db, clock, logger, metrics, background, webhookTimes }: Connections,
  parts: {
    readonly events: Events
    readonly savedSearches: Pick<SavedSearches, 'find'>
    readonly search: Pick<Search, 'matches'>
  },
) {
  const { events, savedSearches, search } = parts
  const allowPrivate = config.WEBHOOK_ALLOW_PRIVATE
  const store = createDeliveryStore(db)
  const onError = (error: unknown): void => logger.warn({ err: error }, 'delivering webhooks failed; will retry')
  let key: SigningKey | undefined
  const signingKey = async (): Promise<SigningKey> => (key ??= importPrivateKey(await store.seed(randomBytes(32))))
  const attempts = new Counter({
    name: 'tracker_webhook_attempts_total',
    help: 'Attempts to send a torrent to a webhook, by result',
    labelNames: ['result'],
    registers: [metrics.registry],
  })
  const webhookDeliveries = createDeliveries({
    ...{ store, events, signingKey, clock, onError, siteUrl: config.PUBLIC_URL },
    send: createReceiverClient({ allowPrivate, times: webhookTimes }),
    onAttempt: (result) => attempts.inc({ result }),
    matches: async ({ savedSearch, userId }, { infoHash }) => {
      if (savedSearch === null || userId === null) return true
      try {
        const { filters } = await savedSearches.find(savedSearch, userId)
        // A queue of its own, so that a member who searches too much still receives torrents.
        return await search.matches(forNewTorrents(filters), infoHash, userId, `webhooks ${userId}`)
      } catch (error) {
        if (!isApiError(error)) throw error
        return error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE' ? undefined : false
      }
    },
  })
  background.add({
    ...{ everyMs: DELIVER_EVERY_MS, task: () => webhookDeliveries.startDue(), onError },
    atStop: () => webhookDeliveries.stop(),
  })
  return {
    webhooks: createWebhooks({
      store: createWebhookStore(db),
      mayConnect: mayConnectTo(allowPrivate),
      sendTest: (webhook) => webhookDeliveries.sendTest(webhook),
      ...{ allowPrivate, clock },
    }),
    webhookKey: async (): Promise<string> => (await signingKey()).publicKeyHex,
  }
}
