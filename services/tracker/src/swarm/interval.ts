/** How far a regular interval may be stretched, so that clients that started together do not stay together. */
const JITTER = 0.1

/** Clients count from when the answer arrives, and the clocks of some are a little fast. */
const TOLERANCE = 0.95

// All intervals in seconds.

/** An interval with up to ten per cent on top; `random` gives numbers from 0 to 1. */
export function withJitter(interval: number, random: () => number): number {
  return Math.floor(interval * (1 + JITTER * random()))
}

/** After how long an announce is not too soon any more: a little less than clients are told. */
export function tolerantMinInterval(minInterval: number): number {
  return Math.floor(minInterval * TOLERANCE)
}

/** How long a peer is kept without announcing: two intervals, without what is added at random, and five minutes. */
export function timeToLive(interval: number): number {
  return 2 * interval + 300
}

/** The interval for a peer whose swarm was lost: a short one, so that it soon receives the others that announced again. */
export function recoveryInterval(interval: number): number {
  return Math.max(1, Math.min(interval, Math.ceil(interval / 6)))
}
