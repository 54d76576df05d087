const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The wait after each failure in a row; the last one repeats. */
const DELAYS_MS = [
  ...[5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS],
]

/** A delivery is given up after this time. */
export const GIVE_UP_AFTER_MS = 24 * HOUR_MS

/** Statuses that say nothing about the receiver as a whole: it refuses this one delivery. */
const OWN_FAULT = (status: number): boolean => status < 500 && status !== 408 && status !== 429

/** The result of an attempt: the status of the response, or why there is none. */
export type Attempt = { readonly status: number; readonly retryAfterMs?: number } | { readonly problem: string }

/** Sends a delivery. Never fails: what went wrong is part of the result. */
export type Send = (delivery: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}) => Promise<Attempt>

/** What follows from an attempt. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** `nextAt` is undefined if the delivery is given up; `isReceiverDown` if others would fail like it. */
  | { readonly kind: 'failed'; readonly nextAt: Date | undefined; readonly isReceiverDown: boolean }

/** The state of a delivery before an attempt. */
export type Attempted = {
  readonly createdAt: Date
  /** How often it has been attempted, including this time. */
  readonly attempts: number
  /** How often its receiver failed in a row before. */
  readonly failures: number
}

/**
 * Decides what follows from an attempt.
 *
 * @param random from 0 to 1, so that the retries of many deliveries spread out
 */
export function outcomeOf(attempt: Attempt, delivery: Attempted, now: Date, random: number): Outcome {
  const status = 'status' in attempt ? attempt.status : undefined
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' }
  const isReceiverDown = status === undefined || !OWN_FAULT(status)
  const failed = isReceiverDown ? delivery.failures : delivery.attempts - 1
  const delay = (DELAYS_MS[Math.min(failed, DELAYS_MS.length - 1)] ?? HOUR_MS) * (0.9 + random / 5)
  const asked = Math.min('status' in attempt ? (attempt.retryAfterMs ?? 0) : 0, HOUR_MS)
  const nextAt = new Date(now.getTime() + Math.max(delay, asked))
  const isOver = nextAt.getTime() > delivery.createdAt.getTime() + GIVE_UP_AFTER_MS
  return { kind: 'failed', nextAt: isOver ? undefined : nextAt, isReceiverDown }
}
