import type { Total } from '../lists/total.ts'

/** A user as lists name them. */
export type NamedUser = { readonly id: string; readonly username: string }

/** A request of the log. */
export type ListedRequest = {
  readonly id: string
  readonly at: Date
  /** Null where the key was missing or wrong. */
  readonly user: NamedUser | null
  readonly function: string
  readonly query: string
  readonly results: number
  readonly durationMs: number
  /** The code of a Torznab error. */
  readonly error: number | null
  readonly client: string
}

type Page = { readonly page: number; readonly limit: number }

/** Which requests, the newest first. What is undefined does not matter. */
export type RequestQuery = Page & {
  /** Id or name; an unknown user has no requests. */
  readonly user: string | undefined
  readonly function: string | undefined
  /** Whether it was answered with an error, or with which. */
  readonly error: boolean | number | undefined
  readonly from: Date | undefined
  /** Not included. */
  readonly to: Date | undefined
}

/** What a user did with the API since counting began. */
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

/** Which users, the busiest first. */
export type UsageQuery = Page & {
  /** Part of the name. */
  readonly search: string | undefined
  readonly blocked: boolean | undefined
}

/** Lists for administrators. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type RequestLists = {
  requests(query: RequestQuery): Promise<{ readonly items: readonly ListedRequest[] } & Total>
  /** Users who made a request, or are blocked. */
  users(query: UsageQuery): Promise<{ readonly items: readonly UserUsage[] } & Total>
}
