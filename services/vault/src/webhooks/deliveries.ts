import { randomBytes } from 'node:crypto'
import { type SigningKey, signRequest } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import {
  type Attempt,
  GIVE_UP_AFTER_MS,
  type Outcome,
  outcomeOf,
  type Send,
} from '@vault-and-tracker/service-kit/core/delivery-schedule'
import type { AuthenticRows, Sealed, WebhookRow } from '../integrity/rows.ts'
import { type NewDelivery, SIGNER } from './webhooks.ts'

/** A delivery that this process has claimed, with its webhook. */
export type ClaimedDelivery = NewDelivery & {
  /** How often it has been attempted, including this time. */
  readonly attempts: number
  readonly webhook: Sealed<WebhookRow>
  /** How often the receiver failed in a row. */
  readonly failures: number
}

/** Which deliveries to claim. */
export type Claim = {
  readonly now: Date
  /** Until then, no other process attempts a claimed delivery. */
  readonly leasedUntil: Date
  /** Receivers that failed the last time, or the others. */
  readonly failing: boolean
  readonly perWebhook: number
  readonly limit: number
  /** Webhooks from which nothing is claimed. */
  readonly busy: readonly string[]
}

/** The deliveries of all webhooks. */
export type DeliveryStore = {
  /** Claims deliveries that are due, those that have waited longest first. */
  claim(claim: Claim): Promise<readonly ClaimedDelivery[]>
  /** Records the outcome of an attempt, and the resulting state of the receiver. */
  settle(delivery: ClaimedDelivery, attempt: Attempt, outcome: Outcome, now: Date): Promise<void>
  /** Returns a claimed delivery that was not attempted. */
  release(delivery: ClaimedDelivery): Promise<void>
  /** Gives up waiting deliveries and deletes log entries that are older than these times. */
  expire(times: { readonly waitingSince: Date; readonly loggedSince: Date }): Promise<void>
}

/** An attempt ends after ten seconds. */
const LEASE_MS = 30_000
/** Receivers that respond share the larger part, so those that do not never delay them. */
const LIMITS = { responding: { perWebhook: 4, total: 48 }, failing: { perWebhook: 1, total: 16 } }
const KEEP_LOG_MS = 7 * 86_400_000

/**
 * Delivers the events that were stored with their changes, at least once. Replicas share the work by leases: if one of them
 * dies, another repeats its attempts with the same id.
 */
export function createDeliveries(deps: {
  store: DeliveryStore
  send: Send
  rows: Pick<AuthenticRows, 'webhooks' | 'deliveries'>
  signingKey: SigningKey
  /** The same for all replicas, and right for receivers. */
  clock: Clock
  onAttempt: (result: 'delivered' | 'failed' | 'given_up') => void
  onError: (error: unknown) => void
}) {
  const { store, send, rows, signingKey, clock, onAttempt, onError } = deps
  const stopping = new AbortController()
  const running = new Map<ClaimedDelivery, Promise<void>>()

  async function attempt({ webhook, payload, ...delivery }: ClaimedDelivery): Promise<Attempt> {
    if (!rows.webhooks.accept(webhook) || !rows.deliveries.accept({ ...delivery, payload }))
      return { problem: 'refused row' }
    const body = Buffer.from(payload)
    const { url } = webhook
    const signature = signRequest({
      ...{ method: 'POST', url, body, project: SIGNER, key: signingKey },
      ...{ created: Math.floor(clock.now() / 1000), nonce: randomBytes(16).toString('hex') },
    })
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'vault-webhooks', ...signature }
    return send({ url, headers, body, signal: stopping.signal })
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const made = await attempt(delivery)
    if (stopping.signal.aborted && 'problem' in made) {
      await store.release(delivery)
      return
    }
    const now = new Date(clock.now())
    const outcome = outcomeOf(made, delivery, now, Math.random())
    await store.settle(delivery, made, outcome, now)
    if (outcome.kind === 'delivered') onAttempt('delivered')
    else onAttempt(outcome.nextAt === undefined ? 'given_up' : 'failed')
  }

  function start(delivery: ClaimedDelivery): void {
    // If the outcome cannot be stored, the lease ends and the delivery is repeated.
    const run = deliver(delivery)
      .catch(onError)
      .finally(() => running.delete(delivery))
    running.set(delivery, run)
  }

  async function startDue(failing: boolean): Promise<number> {
    const { perWebhook, total } = failing ? LIMITS.failing : LIMITS.responding
    const own = [...running.keys()].filter(({ failures }) => failures > 0 === failing)
    const counts = new Map<string, number>()
    for (const { webhookId } of own) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
    const limit = total - own.length
    if (limit <= 0 || stopping.signal.aborted) return 0
    const now = clock.now()
    const claimed = await store.claim({
      ...{ now: new Date(now), leasedUntil: new Date(now + LEASE_MS), failing, perWebhook, limit },
      // A webhook with running attempts waits until all have ended, even if it could start more.
      busy: [...counts.keys()],
    })
    for (const delivery of claimed) start(delivery)
    return claimed.length
  }

  return {
    /** Starts as many due attempts as the limits allow, without waiting for them. Returns their number. */
    startDue: async (): Promise<number> => (await startDue(false)) + (await startDue(true)),

    /** Resolves when no attempt is running. */
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running.values())
    },

    /** Ends running attempts, which another replica repeats, and starts no more. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(running.values())
    },

    /** Gives up deliveries after a day, and deletes log entries after a week. */
    expire: (): Promise<void> =>
      store.expire({
        waitingSince: new Date(clock.now() - GIVE_UP_AFTER_MS),
        loggedSince: new Date(clock.now() - KEEP_LOG_MS),
      }),
  }
}
