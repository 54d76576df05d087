/** One announce of a case. Bytes are what the client reports; `after` is in seconds since the previous one. */
export type Step = {
  readonly after?: number
  readonly who?: 'alice' | 'bob'
  readonly peerId?: string
  readonly event?: 'started' | 'completed' | 'stopped' | 'paused'
  readonly up: number
  readonly down?: number
  readonly left?: number
  /** Announces the hybrid's second hash. */
  readonly v2?: boolean
  /** Announces from another machine. */
  readonly elsewhere?: boolean
  /** Announces over IPv6. */
  readonly ipv6?: boolean
  /** An event just before the announce; `taken` is a run of the background task that leaves a batch waiting. */
  readonly before?: 'redis emptied' | 'flushed' | 'taken'
}

/** The expected values in the database at the end. Omitted values must be 0. */
export type Totals = {
  readonly up?: number
  readonly down?: number
  /** Set if rates make them differ. */
  readonly creditedUp?: number
  readonly creditedDown?: number
  readonly seconds?: number
  readonly completed?: boolean
}

export type AccountingCase = {
  readonly name: string
  readonly percents?: {
    readonly user?: { readonly up?: number; readonly down?: number }
    readonly torrent?: { readonly up?: number; readonly down?: number }
    readonly site?: { readonly up?: number; readonly down?: number }
  }
  readonly steps: readonly Step[]
  readonly alice: Totals
  readonly bob?: Totals
  /** How many users completed the torrent. */
  readonly completed?: number
}

export const GIB = 1_073_741_824
/** Seconds. */
export const HOUR = 3600
