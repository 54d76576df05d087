const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const FIRST_PENALTY_MS = 5 * MINUTE_MS
const LONGEST_PENALTY_MS = 24 * HOUR_MS

/** How long an address is blocked after it was blocked for `penaltyMs` the last time, 0 for never: 5, 10, 20 minutes ... 24 hours. */
export function nextPenalty(penaltyMs: number): number {
  return penaltyMs === 0 ? FIRST_PENALTY_MS : Math.min(2 * penaltyMs, LONGEST_PENALTY_MS)
}

/**
 * When an address takes the next step of the ladder: so many refusals by a limit in one window, of all users together, or
 * refusals in so many consecutive windows. Several programs of one user share an address, and each is refused once before
 * it waits; so a few refusals in a window are normal.
 */
export const LADDER = {
  refusalsInWindow: 10,
  windowsRunning: 3,
  /**
   * A step is forgotten after so long without a refusal by a limit. It counts from the end of the block, during which
   * there are none: the step of 24 hours would otherwise be forgotten as it ends.
   */
  forgottenAfterMs: 24 * HOUR_MS,
} as const

/** Wrong keys of one address: so many in so long. They are no step of the ladder. */
export const WRONG_KEYS = { limit: 20, windowMs: 5 * MINUTE_MS } as const

/** A request of a user that a limit counts. */
export type CountedRequest = {
  readonly userId: string
  /** As text, IPv4 or IPv6. An IPv6 address stands for its /64. */
  readonly address: string
  readonly kind: 'search' | 'download'
  /** Requests of this kind in a window. */
  readonly limit: number
  /** Windows begin at multiples of this since the Unix epoch, by the clock of the replica that is ahead of the others. */
  readonly windowSeconds: number
}

/** What a user was allowed to do in the current window; in the verdict of a request, that one included. */
export type Usage = { readonly searches: number; readonly downloads: number }

/** Whether a request may be answered. Refused by the limit or, without being counted, because its address is blocked. */
export type Verdict =
  | { readonly allowed: true; readonly usage: Usage }
  | {
      readonly allowed: false
      readonly by: 'limit' | 'block'
      /** Until the window ends or, where that is later, the block. At least 1. */
      readonly retryAfterSeconds: number
    }

/** An address that is blocked. */
export type AddressBlock = {
  /** An IPv4 address, or the /64 of an IPv6 address, such as `2001:db8:0:1::/64`. */
  readonly address: string
  readonly until: Date
  readonly secondsLeft: number
  /** How long the whole block is, in seconds: the step of the ladder. */
  readonly penaltySeconds: number
}

/** The limits of the Torznab API, shared by all replicas. All methods throw what `isUnavailable` recognises. */
export type TorznabLimits = {
  /** Counts a request. One call to Redis. */
  take(request: CountedRequest): Promise<Verdict>
  /** Counts a wrong key. @returns 0, or over the limit the seconds until the next key of the address is read */
  takeWrongKey(address: string): Promise<number>
  /** What a user did in the current window. It counts nothing. */
  usage(userId: string, windowSeconds: number): Promise<Usage>
}

/** The addresses that are blocked, for administrators. All methods throw what `isUnavailable` recognises. */
export type AddressBlocks = {
  /** The end of an address's block; undefined where it is not blocked. */
  blockedUntil(address: string): Promise<Date | undefined>
  /** How many addresses are blocked. */
  count(): Promise<number>
  /** Blocks that have not ended, the longest first; a thousand at most. */
  list(): Promise<readonly AddressBlock[]>
  /**
   * Ends a block and forgets the address's steps. Of an address that is not blocked nothing changes.
   *
   * @param address as in the list, or any address of an IPv6 /64
   * @returns whether it was blocked
   */
  lift(address: string): Promise<boolean>
}
