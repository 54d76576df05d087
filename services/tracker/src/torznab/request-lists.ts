import type { Total } from '../pagination.ts'
import type { AddressCount } from './request-counts.ts'

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
}

/** The requests of a user since counting began. */
export type UserUsage = {
  readonly user: NamedUser
  readonly requests: number
  readonly downloads: number
  readonly errors: number
  /** Requests that a limit refused. */
  readonly violations: number
  readonly lastAt: Date | null
  /** Whether an administrator blocked them from the API. */
  readonly blocked: boolean
}

type Page = { readonly page: number; readonly limit: number }

/** Undefined fields do not narrow the list. */
export type RequestQuery = Page & {
  /** The id or the name; an unknown user has no requests. */
  readonly user: string | undefined
  readonly function: string | undefined
  /** Whether the answer was an error, or its code. */
  readonly error: boolean | number | undefined
  readonly from: Date | undefined
  /** Not included. */
  readonly to: Date | undefined
}

/** Undefined fields do not narrow the list. */
export type UsageQuery = Page & {
  /** Part of the name. */
  readonly search: string | undefined
  readonly blocked: boolean | undefined
}

type Listed<Item> = { readonly items: readonly Item[] } & Total

/** Lists for administrators. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type RequestLists = {
  /** The newest first. */
  requests(query: RequestQuery): Promise<Listed<ListedRequest>>
  /** The newest hour first, and in it the busiest address; `others` represents addresses over the limit. */
  addresses(page: Page): Promise<Listed<AddressCount>>
  /** Users who made a request or are blocked, the busiest first. */
  users(query: UsageQuery): Promise<Listed<UserUsage>>
}
