import { randomBytes } from 'node:crypto'
import { type SigningKey, signRequest } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import {
  type Attempt,
  GIVE_UP_AFTER_MS,
  outcomeOf,
  type Send,
} from '@vault-and-tracker/service-kit/core/delivery-schedule'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Events, TorrentEvent } from '../events/events.ts'
import { type Message, payloadOf } from './payloads.ts'
import type { Webhook } from './webhooks.ts'

/** A webhook that this process delivers to. */
export type ClaimedWebhook = Webhook & {
  readonly lease: string
  /** The last event that it has received or skipped. */
  readonly position: number
  /** The time of the first failure in a row. */
  readonly failingSince: Date | null
}

/** The store of deliveries. A method with a lease changes nothing once the lease belongs to another process. */
export type DeliveryStore = {
  /** Claims enabled webhooks of active users that have events to receive, those that failed last or the others. */
  claim(claim: {
    readonly now: Date
    readonly leasedUntil: Date
    readonly lease: string
    readonly failing: boolean
    readonly limit: number
  }): Promise<readonly ClaimedWebhook[]>
  /** Records that all events up to one were received or skipped, and extends the lease. @returns whether it is held */
  advance(lease: string, id: string, position: number, leasedUntil: Date, attempt?: AttemptResult): Promise<boolean>
  /** Records a failed attempt and ends the lease. Without `retryAt`, disables the webhook and notifies its owner. */
  fail(lease: string, id: string, attempt: AttemptResult, retryAt: Date | undefined): Promise<void>
  release(lease: string, id: string): Promise<void>
  /** The seed of the signing key, which is created with the given one if there is none. */
  seed(initial: Buffer): Promise<Buffer>
}

export type AttemptResult = { readonly at: Date; readonly result: string }

/** The name of the tracker in its signatures: `keyid` is `tracker.agents.vault.local`. */
export const SIGNER = 'tracker'

/** An attempt ends after ten seconds. */
const LEASE_MS = 60_000
/** Receivers that respond share the larger part, so that those that do not never delay them. */
const LIMITS = { responding: 24, failing: 8 }
/** After so many events, another webhook has its turn. */
const EVENTS_PER_TURN = 20

/**
 * Delivers events to webhooks: to each one after another, in order. Processes share the work by leases. If one of them is
 * killed between a response and its record, another repeats that delivery with the same id.
 *
 * @param deps `matches` tells whether a torrent matches the saved search of a webhook
 */
export function createDeliveries(deps: {
  store: DeliveryStore
  events: Pick<Events, 'page'>
  matches: (webhook: Webhook, torrent: TorrentEvent['torrent']) => Promise<boolean>
  send: Send
  signingKey: () => Promise<SigningKey>
  siteUrl: string
  clock: Clock
  onAttempt: (result: 'delivered' | 'failed' | 'disabled') => void
  onError: (error: unknown) => void
}) {
  const { store, clock, onAttempt } = deps
  const stopping = new AbortController()
  const running = new Map<Promise<void>, boolean>()
  const now = (): Date => new Date(clock.now())
  const leasedUntil = (): Date => new Date(clock.now() + LEASE_MS)

  async function attempt({ url, format }: Webhook, message: Message): Promise<Attempt> {
    const { body: text, headers } = payloadOf(message, format, deps.siteUrl)
    const body = Buffer.from(text)
    const signature = signRequest({
      ...{ method: 'POST', url, body, project: SIGNER, key: await deps.signingKey() },
      ...{ created: Math.floor(clock.now() / 1_000), nonce: randomBytes(16).toString('hex') },
    })
    return deps.send({
      ...{ url, body, signal: stopping.signal },
      headers: { 'User-Agent': 'tracker-webhooks', ...headers, ...signature },
    })
  }

  /** Sends the next events. Ends with the lease released, or left to expire after an error. */
  async function serve(webhook: ClaimedWebhook): Promise<void> {
    const { id, lease } = webhook
    let sent = 0
    let { position } = webhook
    for (;;) {
      const page = await deps.events.page(position)
      if (page === undefined) break
      for (const event of page.events) {
        if (!(await deps.matches(webhook, event.torrent))) continue
        const made = await attempt(webhook, event)
        if (stopping.signal.aborted && 'problem' in made) return store.release(lease, id)
        const failures = sent === 0 ? webhook.failures : 0
        const outcome = outcomeOf(made, { createdAt: now(), attempts: failures + 1, failures }, now(), Math.random())
        const result = { at: now(), result: resultOf(made) }
        if (outcome.kind === 'failed') {
          const since = (sent === 0 ? webhook.failingSince : null) ?? now()
          const isOver = clock.now() - since.getTime() >= GIVE_UP_AFTER_MS
          onAttempt(isOver ? 'disabled' : 'failed')
          return store.fail(lease, id, result, isOver ? undefined : outcome.nextAt)
        }
        onAttempt('delivered')
        if (!(await store.advance(lease, id, event.id, leasedUntil(), result))) return
        sent += 1
        if (sent >= EVENTS_PER_TURN || stopping.signal.aborted) return store.release(lease, id)
      }
      position = page.until
      if (!(await store.advance(lease, id, position, leasedUntil()))) return
    }
    await store.release(lease, id)
  }

  async function startDue(failing: boolean): Promise<number> {
    const busy = [...running.values()].filter((each) => each === failing).length
    const limit = (failing ? LIMITS.failing : LIMITS.responding) - busy
    if (limit <= 0 || stopping.signal.aborted) return 0
    const claim = { now: now(), leasedUntil: leasedUntil(), lease: newId(), failing, limit }
    const claimed = await store.claim(claim)
    for (const webhook of claimed) {
      const run: Promise<void> = serve(webhook)
        .catch(deps.onError)
        .finally(() => running.delete(run))
      running.set(run, failing)
    }
    return claimed.length
  }

  return {
    /** Starts deliveries without waiting for them. @returns to how many webhooks */
    startDue: async (): Promise<number> => (await startDue(false)) + (await startDue(true)),

    /** Sends a test. @returns the status of the response, or why there is none */
    sendTest: async (webhook: Webhook): Promise<string> => resultOf(await attempt(webhook, 'test')),

    /** Ends running attempts, which another process repeats, and starts no more. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(running.keys())
    },
  }
}

function resultOf(attempt: Attempt): string {
  return 'status' in attempt ? `HTTP ${String(attempt.status)}` : attempt.problem
}
