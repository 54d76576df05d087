import { type Total, totalOf } from '../lists/total.ts'

/** A user as lists name them. */
export type NamedUser = { readonly id: string; readonly username: string }

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

/** What an address asked in an hour, of what is counted instead of logged. */
export type ListedAddress = {
  /** The start of the hour. */
  readonly hour: Date
  /** An IPv4 address, the /64 of an IPv6 address, or `others` for all those beyond the bound of addresses. */
  readonly address: string
  readonly requests: number
  readonly wrongKeys: number
  /** Refused by a limit or by the block of the address. */
  readonly overLimits: number
}

type Page = { readonly page: number; readonly limit: number }

/** Which requests, the newest first. What is undefined does not matter. */
type RequestFilter = Page & {
  readonly function: string | undefined
  /** Whether it was answered with an error, or with which. */
  readonly error: boolean | number | undefined
  readonly from: Date | undefined
  /** Not included. */
  readonly to: Date | undefined
}

/** The same by who made them: the id or name of a user; an unknown user has no requests. */
export type RequestQuery = RequestFilter & { readonly user: string | undefined }

/** The same by the id of the user. */
export type StoredRequestQuery = RequestFilter & { readonly userId: string | undefined }

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

type Listed<Item> = { readonly items: readonly Item[] } & Total

/** The store of the lists. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type RequestListStore = {
  requests(query: StoredRequestQuery): Promise<Listed<ListedRequest>>
  /** The newest hour first, and in it the busiest address. */
  addresses(page: Page): Promise<Listed<ListedAddress>>
  /** Users who made a request, or are blocked. */
  users(query: UsageQuery): Promise<Listed<UserUsage>>
}

/** Lists for administrators. */
export type RequestLists = ReturnType<typeof createRequestLists>

/** @param deps `findUserId` finds a user by id or name */
export function createRequestLists(deps: {
  store: RequestListStore
  findUserId: (idOrName: string) => Promise<string | undefined>
}) {
  const { store, findUserId } = deps
  return {
    requests: async ({ user, ...filter }: RequestQuery): Promise<Listed<ListedRequest>> => {
      const userId = user === undefined ? undefined : await findUserId(user)
      if (user !== undefined && userId === undefined) return { items: [], ...totalOf(0) }
      return store.requests({ ...filter, userId })
    },

    addresses: (page: Page) => store.addresses(page),

    users: (query: UsageQuery) => store.users(query),
  }
}
