import type { Listed, Page } from '../pagination.ts'

type NamedUser = { readonly id: string; readonly username: string }

/** A request of the log. */
export type ListedRequest = {
  readonly id: string
  readonly at: Date
  readonly user: NamedUser
  readonly function: string
  readonly query: string
  readonly results: number
  readonly durationMs: number
  /** The code of a Torznab error. */
  readonly error: number | null
  readonly client: string
  /** An IPv4 address, or the /64 of an IPv6 address; null if none was stored. */
  readonly address: string | null
}

/** Requests without a valid key, or refused, from an address in an hour. */
export type AddressCount = {
  readonly hour: Date
  /** An IPv4 address, the /64 of an IPv6 address, or `others` for addresses over the bound. */
  readonly address: string
  readonly requests: number
  readonly wrongKeys: number
  /** Refused by a limit or by the block of the address. */
  readonly overLimits: number
}

/** The requests of a user since counting began. */
export type UserUsage = {
  readonly user: NamedUser
  readonly requests: number
  readonly downloads: number
  readonly errors: number
  /** Requests that a limit refused. */
  readonly violations: number
  readonly lastRequest: Date | null
  /** Whether an administrator blocked them from the API. */
  readonly blocked: boolean
}

/** Undefined fields do not narrow the list. */
export type RequestQuery = Page & {
  /** An id or a name; an unknown user has no requests. */
  readonly user?: string | undefined
  readonly address?: string | undefined
  readonly function?: string | undefined
  /** Whether the answer was an error, or its code. */
  readonly error?: boolean | number | undefined
  readonly from?: Date | undefined
  /** Not included. */
  readonly to?: Date | undefined
}

/** Undefined fields do not narrow the list. */
export type UsageQuery = Page & {
  /** Part of the name. */
  readonly search?: string | undefined
  readonly blocked?: boolean | undefined
}

/** Lists for administrators. All methods throw an error that `isUnavailable` recognises when Postgres is unavailable. */
export type RequestLists = {
  /** Newest first. */
  requests(query: RequestQuery): Promise<Listed<ListedRequest>>
  /** Newest hour first, then busiest address first. */
  addresses(page: Page): Promise<Listed<AddressCount>>
  /** Users who made a request or are blocked, busiest first. */
  users(query: UsageQuery): Promise<Listed<UserUsage>>
}
