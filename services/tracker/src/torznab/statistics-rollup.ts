import { addTo, bucketOf } from './statistics-histogram.ts'
import { SPANS, type Span, startOf } from './statistics-spans.ts'

/** What of a request is counted. */
export type CountedRequest = {
  readonly at: Date
  readonly userId: string | null
  readonly function: string
  readonly durationMs: number
  readonly error: number | null
  readonly refusedBy?: 'limit' | 'block' | undefined
  readonly client: string
}

type InSpan = { readonly span: Span; readonly start: Date }

/** What requests are counted by, besides their time. */
export type CountKind = 'all' | 'function' | 'client'

/** Requests in a span: all, those of a function, or those of a family of applications. */
export type CountRow = InSpan & {
  readonly kind: CountKind
  /** Empty for all. */
  readonly name: string
  requests: number
  errors: number
  durationMs: number
  /** Response times; empty for families of applications. */
  readonly buckets: number[]
}
/** The users of a span. */
export type UsersRow = InSpan & { readonly userIds: Set<string> }
/** What a user did. */
export type UserRow = {
  readonly userId: string
  requests: number
  downloads: number
  errors: number
  /** Requests that a limit refused; those that a block refused may be somebody else's fault. */
  violations: number
  lastAt: Date
}

/** Requests, counted. Every list is in the order in which its rows are locked. */
export type Rollup = {
  readonly counts: readonly CountRow[]
  readonly users: readonly UserRow[]
  readonly userSets: readonly UsersRow[]
}

/** Counts requests by hour, day and month, and by user. */
export function rollUp(requests: readonly CountedRequest[]): Rollup {
  const counts = new Map<string, CountRow>()
  const userSets = new Map<string, UsersRow>()
  const users = new Map<string, UserRow>()
  for (const request of requests) {
    const kinds = [
      ['all', ''],
      ['function', request.function],
      ['client', request.client],
    ] as const
    for (const span of SPANS) {
      const start = startOf(span, request.at)
      const time = start.toISOString()
      for (const [kind, name] of kinds) {
        const count = take(counts, `${span} ${kind} ${time} ${name}`, () => ({
          ...{ span, kind, start, name },
          ...{ requests: 0, errors: 0, durationMs: 0, buckets: [] },
        }))
        count.requests += 1
        count.errors += request.error === null ? 0 : 1
        count.durationMs += request.durationMs
        if (kind !== 'client') addTo(count.buckets, bucketOf(request.durationMs), 1)
      }
      if (request.userId !== null)
        take(userSets, `${span} ${time}`, () => ({ span, start, userIds: new Set<string>() })).userIds.add(
          request.userId,
        )
    }
    if (request.userId !== null) addToUser(users, request.userId, request)
  }
  return { counts: inOrder(counts), userSets: inOrder(userSets), users: inOrder(users) }
}

function addToUser(users: Map<string, UserRow>, userId: string, request: CountedRequest): void {
  const user = take(users, userId, () => ({
    userId,
    requests: 0,
    downloads: 0,
    errors: 0,
    violations: 0,
    lastAt: request.at,
  }))
  user.requests += 1
  user.downloads += request.function === 'download' ? 1 : 0
  user.errors += request.error === null ? 0 : 1
  user.violations += request.refusedBy === 'limit' ? 1 : 0
  user.lastAt = request.at
}

function take<Row>(rows: Map<string, Row>, key: string, create: () => Row): Row {
  const found = rows.get(key)
  if (found !== undefined) return found
  const created = create()
  rows.set(key, created)
  return created
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): readonly Row[] {
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
