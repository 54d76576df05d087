/** The maximum extension of a regular interval, so that clients that started together drift apart. */
const JITTER = 0.1

/** Clients count from the arrival of the reply, and some clocks run fast. */
const TOLERANCE = 0.95

// All intervals are in seconds.

/** An interval extended by up to ten per cent. `random` returns numbers from 0 to 1. */
export function withJitter(interval: number, random: () => number): number {
  return Math.floor(interval * (1 + JITTER * random()))
}

/** An interval extended by up to its length, for users over the limit: their clients spread out and announce less often. */
export function spreadInterval(interval: number, random: () => number): number {
  return Math.floor(interval * (1 + random()))
}

/** The interval that is enforced: slightly less than the one sent to clients. */
export function tolerantMinInterval(minInterval: number): number {
  return Math.floor(minInterval * TOLERANCE)
}

/** The lifetime of a peer without an announce: two intervals, excluding jitter, plus five minutes. */
export function timeToLive(interval: number): number {
  return 2 * interval + 300
}

/** The interval for a peer whose swarm was lost: short, so that it soon receives the other peers that rejoined. */
export function recoveryInterval(interval: number): number {
  return Math.max(1, Math.min(interval, Math.ceil(interval / 6)))
}
