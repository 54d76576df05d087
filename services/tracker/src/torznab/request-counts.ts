import { torznabError } from '@vault-and-tracker/torznab-xml'

/** The part of an answered request that is counted. */
export type CountedRequest = {
  readonly at: Date
  readonly userId: string | null
  readonly function: string
  /** The family of the application. */
  readonly client: string
  readonly durationMs: number
  readonly error: number | null
  readonly refusedBy?: 'limit' | 'block' | undefined
}

/** Requests in an hour of one function or one family of applications. */
export type HourCount = {
  readonly kind: 'function' | 'client'
  readonly name: string
  readonly hour: Date
  requests: number
  errors: number
  durationMs: number
}

/** Requests of a user. */
export type UserCount = {
  readonly userId: string
  requests: number
  downloads: number
  errors: number
  /** Requests refused by a limit, but not by a block, which may be another user's fault. */
  violations: number
  firstAt: Date
  lastAt: Date
}

/** Requests without a valid key, or refused, from an address in an hour. */
export type AddressCount = {
  readonly hour: Date
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string
  requests: number
  wrongKeys: number
  /** Refused by a limit or by the block of the address. */
  overLimits: number
}

const HOUR_MS = 3_600_000
const WRONG_KEY = torznabError('incorrectCredentials').code

/** Counts requests by hour and by user, in the order in which the rows are locked. */
export function countRequests(requests: readonly CountedRequest[]) {
  const hours = new Map<string, HourCount>()
  const users = new Map<string, UserCount>()
  for (const { at, userId, durationMs, error, refusedBy, ...request } of requests) {
    const hour = hourOf(at)
    for (const [kind, name] of [
      ['function', request.function],
      ['client', request.client],
    ] as const) {
      const key = `${kind} ${hour.toISOString()} ${name}`
      const count = hours.get(key) ?? { kind, name, hour, requests: 0, errors: 0, durationMs: 0 }
      hours.set(key, count)
      count.requests += 1
      count.errors += error === null ? 0 : 1
      count.durationMs += durationMs
    }
    if (userId === null) continue
    const user = users.get(userId) ?? {
      ...{ userId, firstAt: at, lastAt: at },
      ...{ requests: 0, downloads: 0, errors: 0, violations: 0 },
    }
    users.set(userId, user)
    user.requests += 1
    user.downloads += request.function === 'download' ? 1 : 0
    user.errors += error === null ? 0 : 1
    user.violations += refusedBy === 'limit' ? 1 : 0
    if (at < user.firstAt) user.firstAt = at
    if (at > user.lastAt) user.lastAt = at
  }
  return { hours: inOrder(hours), users: inOrder(users) }
}

/** Counts requests by hour and address, in the order in which the rows are locked. */
export function countAddresses(
  requests: readonly (Pick<CountedRequest, 'at' | 'error' | 'refusedBy'> & { readonly address: string })[],
): readonly AddressCount[] {
  const counts = new Map<string, AddressCount>()
  for (const { at, address, error, refusedBy } of requests) {
    const hour = hourOf(at)
    const key = `${hour.toISOString()} ${address}`
    const count = counts.get(key) ?? { hour, address, requests: 0, wrongKeys: 0, overLimits: 0 }
    counts.set(key, count)
    count.requests += 1
    count.wrongKeys += error === WRONG_KEY ? 1 : 0
    count.overLimits += refusedBy === undefined ? 0 : 1
  }
  return inOrder(counts)
}

function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): readonly Row[] {
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
