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
  /** The time of the first failure in a row; skipped events do not end the row. */
  readonly failingSince: Date | null
}

/**
 * What is known of a receiver: it responds quickly, it has not responded yet, or it is slow or fails. A slow one has to
 * respond quickly several times in a row.
 */
export type Pace = 'quick' | 'new' | 'slow'

/** A receiver that takes this long is slow. */
export const SLOW_MS = 2_000

/** The store of deliveries. A method for a claimed webhook changes nothing once the lease belongs to another process. */
export type DeliveryStore = {
  /** Claims enabled webhooks of active users that have events to receive, those first whose owners have the fewest claimed. */
  claim(claim: {
    readonly now: Date
    readonly leasedUntil: Date
    readonly lease: string
    readonly pace: Pace
    /** The number of webhooks of a member that may be claimed at a time. */
    readonly perMember: number
    readonly limit: number
  }): Promise<readonly ClaimedWebhook[]>
  /**
   * Records that all events up to one were received or skipped, and extends the lease.
   *
   * @returns whether the webhook is still claimed, enabled and unchanged
   */
  advance(webhook: ClaimedWebhook, position: number, leasedUntil: Date, attempt?: AttemptResult): Promise<boolean>
  /**
   * Records a failed attempt and ends the lease. Without `retryAt`, disables the webhook and notifies its owner. If the
   * receiver was changed in the meantime, only the lease ends.
   */
  fail(webhook: ClaimedWebhook, attempt: AttemptResult, retryAt: Date | undefined): Promise<void>
  /**
   * Records that an event was skipped after a last attempt and ends the lease. If the receiver was changed in the
   * meantime, only the lease ends.
   */
  skip(webhook: ClaimedWebhook, position: number, attempt: AttemptResult): Promise<void>
  /** Ends the lease. All events up to `position` were received or skipped. */
  release(webhook: ClaimedWebhook, position: number): Promise<void>
  /** The seed of the signing key, which is created with the given one if there is none. */
  seed(initial: Buffer): Promise<Buffer>
}

export type AttemptResult = { readonly at: Date; readonly result: string; readonly responseMs: number }

/** The name of the tracker in its signatures: `keyid` is `tracker.agents.vault.local`. */
export const SIGNER = 'tracker'

/** An attempt ends after ten seconds. */
const LEASE_MS = 60_000
/** Those that respond quickly have slots of their own, so that no other receiver delays them. */
const SLOTS: Readonly<Record<Pace, number>> = { quick: 16, new: 8, slow: 8 }
const PER_MEMBER = 2
/** After so many events or so long, another webhook has its turn. Other receivers have to prove themselves after each event. */
const EVENTS_PER_TURN = 20
const TURN_MS = 5_000
/** Statuses of receivers that do not accept the content: others may be accepted. */
const CONTENT_REFUSED: readonly number[] = [400, 413, 422]
/** After so many failures of an event, it is skipped if the receiver does not accept its content. */
const SKIP_AFTER = 5

/**
 * Delivers events to webhooks: to each one after another, in order. Processes share the work by leases. If one of them is
 * killed between a response and its record, another repeats that delivery with the same id.
 *
 * @param deps `matches` tells whether a torrent matches the saved search of a webhook; undefined if that cannot be told now
 */
export function createDeliveries(deps: {
  store: DeliveryStore
  events: Pick<Events, 'page'>
  matches: (webhook: Webhook, torrent: TorrentEvent['torrent']) => Promise<boolean | undefined>
  send: Send
  signingKey: () => Promise<SigningKey>
  siteUrl: string
  clock: Clock
  onAttempt: (result: 'delivered' | 'failed' | 'skipped' | 'disabled') => void
  onError: (error: unknown) => void
}) {
  const { store, clock, onAttempt } = deps
  const stopping = new AbortController()
  const running = new Map<Promise<void>, Pace>()
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

  /** Sends an event. @returns whether the turn can go on; otherwise the lease has ended */
  async function deliver(webhook: ClaimedWebhook, event: TorrentEvent, isFirst: boolean): Promise<boolean> {
    const startedMs = performance.now()
    const made = await attempt(webhook, event)
    if (stopping.signal.aborted && 'problem' in made) {
      await store.release(webhook, webhook.position)
      return false
    }
    const failures = isFirst ? webhook.failures : 0
    const outcome = outcomeOf(made, { createdAt: now(), attempts: failures + 1, failures }, now(), Math.random())
    const responseMs = Math.round(performance.now() - startedMs)
    const result = { at: now(), result: resultOf(made), responseMs }
    if (outcome.kind === 'delivered') {
      onAttempt('delivered')
      return store.advance(webhook, event.id, leasedUntil(), result)
    }
    const since = (isFirst ? webhook.failingSince : null) ?? now()
    const isOver = clock.now() - since.getTime() >= GIVE_UP_AFTER_MS
    if (!isOver && 'status' in made && CONTENT_REFUSED.includes(made.status) && failures + 1 >= SKIP_AFTER) {
      onAttempt('skipped')
      await store.skip(webhook, event.id, { ...result, result: `${result.result}, skipped` })
      return false
    }
    onAttempt(isOver ? 'disabled' : 'failed')
    await store.fail(webhook, result, isOver ? undefined : outcome.nextAt)
    return false
  }

  /** Sends the next events. Ends with the lease released, or left to expire after an error. */
  async function serve(webhook: ClaimedWebhook, pace: Pace): Promise<void> {
    const endsAtMs = performance.now() + TURN_MS
    const most = pace === 'quick' ? EVENTS_PER_TURN : 1
    let sent = 0
    let { position } = webhook
    for (;;) {
      const page = await deps.events.page(position)
      if (page === undefined) break
      for (const event of page.events) {
        const isWanted = await deps.matches(webhook, event.torrent)
        if (isWanted === undefined) return store.release(webhook, position)
        if (isWanted) {
          if (!(await deliver(webhook, event, sent === 0))) return
          sent += 1
        }
        position = event.id
        if (sent >= most || performance.now() >= endsAtMs || stopping.signal.aborted)
          return store.release(webhook, position)
      }
      position = page.until
      if (!(await store.advance(webhook, position, leasedUntil()))) return
    }
    await store.release(webhook, position)
  }

  async function startDue(pace: Pace): Promise<number> {
    const busy = [...running.values()].filter((each) => each === pace).length
    const limit = SLOTS[pace] - busy
    if (limit <= 0 || stopping.signal.aborted) return 0
    const lease = newId()
    const claimed = await store.claim({
      ...{ now: now(), leasedUntil: leasedUntil(), lease, pace, perMember: PER_MEMBER, limit },
    })
    for (const webhook of claimed) {
      const run: Promise<void> = serve(webhook, pace)
        .catch(deps.onError)
        .finally(() => running.delete(run))
      running.set(run, pace)
    }
    return claimed.length
  }

  return {
    /** Starts deliveries without waiting for them. @returns to how many webhooks */
    startDue: async (): Promise<number> =>
      (await startDue('quick')) + (await startDue('new')) + (await startDue('slow')),

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
