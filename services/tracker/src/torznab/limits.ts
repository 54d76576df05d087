const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The length of each block of an address in turn: 5, 10, 20 minutes and so on, up to 24 hours. */
export const BLOCKS_MS: readonly number[] = [
  ...[5, 10, 20, 40, 80, 160, 320, 640, 1_280].map((minutes) => minutes * MINUTE_MS),
  24 * HOUR_MS,
]

/**
 * An address is blocked after this number of refusals by a limit in one window, of all its users together, or after
 * refusals in this number of consecutive windows. Several programs of one user share an address, and each is refused
 * once before it waits; so a few refusals in a window are normal.
 */
export const BLOCKING = {
  refusalsInWindow: 10,
  windowsRunning: 3,
  /**
   * The length of the last block is forgotten after this time without a refusal by a limit. It counts from the end of
   * the block, during which there are none: a block of 24 hours would otherwise be forgotten as it ends.
   */
  forgottenAfterMs: 24 * HOUR_MS,
} as const

/** Wrong keys per window for each address. Further ones are refused, but never block the address. */
export const WRONG_KEYS = { limit: 20, windowMs: 5 * MINUTE_MS } as const

/** A request of a user that a limit counts. */
export type LimitedRequest = {
  readonly userId: string
  /** As text, IPv4 or IPv6. An IPv6 address represents its /64. */
  readonly address: string
  readonly kind: 'search' | 'download'
  /** Requests of this kind in a window. */
  readonly limit: number
  /** Windows start at multiples of this since the Unix epoch, according to the most advanced clock of all replicas. */
  readonly windowSeconds: number
}

/** The allowed requests of a user in the current window; in a verdict, including the request itself. */
export type Usage = { readonly searches: number; readonly downloads: number }

/** Whether a request may be answered. It is not counted if its address is blocked. */
export type Verdict =
  | { readonly allowed: true; readonly usage: Usage }
  | {
      readonly allowed: false
      readonly by: 'limit' | 'block'
      /** Until the end of the window or of the block, whichever is later. At least 1. */
      readonly retryAfterSeconds: number
    }

export type AddressBlock = {
  /** An IPv4 address, or the /64 of an IPv6 address, such as `2001:db8:0:1::/64`. */
  readonly address: string
  readonly until: Date
  readonly secondsLeft: number
  /** The length of the whole block. */
  readonly penaltySeconds: number
}

/** The limits of the Torznab API, shared by all replicas. All methods throw an error that `isUnavailable` recognises. */
export type TorznabLimits = {
  /** Counts a request. One call to Redis. */
  take(request: LimitedRequest): Promise<Verdict>
  /** Counts a wrong key. @returns 0, or the seconds until the limit allows another wrong key from the address */
  takeWrongKey(address: string): Promise<number>
  /** Reads the requests of a user in the current window without counting. */
  usage(userId: string, windowSeconds: number): Promise<Usage>
}

/** Blocked addresses, for administrators. All methods throw an error that `isUnavailable` recognises. */
export type AddressBlocks = {
  /** The end of an address's block; undefined if it is not blocked. */
  blockedUntil(address: string): Promise<Date | undefined>
  count(): Promise<number>
  /** Current blocks, the longest first; at most a thousand. */
  list(): Promise<readonly AddressBlock[]>
  /**
   * Ends a block and forgets its length. Nothing changes for an address that is not blocked.
   *
   * @param address as in the list, or any address of an IPv6 /64
   * @returns whether it was blocked
   */
  lift(address: string): Promise<boolean>
}
