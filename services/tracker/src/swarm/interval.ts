/** How far a regular interval may be stretched, so that clients that started together do not stay together. */
const JITTER = 0.1

/** An interval with up to ten per cent on top. */
export function withJitter(interval: number, random: () => number): number {
  return Math.floor(interval * (1 + JITTER * random()))
}

/** How long a peer lives without announcing: two intervals, without what is added at random, and five minutes. */
export function timeToLive(interval: number): number {
  return 2 * interval + 300
}

/** When a peer should come back that finds its swarm forgotten: early, since the others will be back by then. */
export function hurriedInterval(interval: number): number {
  return Math.max(1, Math.min(interval, Math.ceil(interval / 6)))
}
