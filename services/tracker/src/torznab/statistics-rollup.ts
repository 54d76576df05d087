import { bucketOf } from './statistics-histogram.ts'
import { SPANS, type Span, startOf } from './statistics-spans.ts'

/** What of a request is counted. */
export type CountedRequest = {
  readonly at: Date
  readonly userId: string | null
  readonly function: string
  readonly durationMs: number
  readonly error: number | null
  readonly client: string
}

/** The error code of a request that a limit refused. */
const LIMIT_REACHED = 500

type InSpan = { readonly span: Span; readonly start: Date }

/** Requests of a function by a family of applications in a span. */
export type CountRow = InSpan & {
  readonly function: string
  readonly client: string
  requests: number
  errors: number
  durationMs: number
}
/** Requests of a function in a span whose response time fell into a bucket. */
export type DurationRow = InSpan & { readonly function: string; readonly bucket: number; requests: number }
/** The users of a span. */
export type UsersRow = InSpan & { readonly userIds: Set<string> }
/** What a user did. */
export type UserRow = {
  readonly userId: string
  requests: number
  downloads: number
  errors: number
  /** Requests that a limit refused. */
  violations: number
  lastAt: Date
}

/** Requests, counted. Every list is in the order in which its rows are locked. */
export type Rollup = {
  readonly counts: readonly CountRow[]
  readonly durations: readonly DurationRow[]
  readonly users: readonly UserRow[]
  readonly userSets: readonly UsersRow[]
}

/** Counts requests by hour, day and month, and by user. */
export function rollUp(requests: readonly CountedRequest[]): Rollup {
  const counts = new Map<string, CountRow>()
  const durations = new Map<string, DurationRow>()
  const userSets = new Map<string, UsersRow>()
  const users = new Map<string, UserRow>()
  for (const request of requests) {
    const isError = request.error !== null
    const bucket = bucketOf(request.durationMs)
    for (const span of SPANS) {
      const start = startOf(span, request.at)
      const key = `${span} ${start.toISOString()}`
      const count = take(counts, `${key} ${request.function} ${request.client}`, () => ({
        span,
        start,
        function: request.function,
        client: request.client,
        requests: 0,
        errors: 0,
        durationMs: 0,
      }))
      count.requests += 1
      count.errors += isError ? 1 : 0
      count.durationMs += request.durationMs
      const duration = take(durations, `${key} ${request.function} ${String(bucket + 1_000)}`, () => ({
        span,
        start,
        function: request.function,
        bucket,
        requests: 0,
      }))
      duration.requests += 1
      if (request.userId !== null)
        take(userSets, key, () => ({ span, start, userIds: new Set<string>() })).userIds.add(request.userId)
    }
    if (request.userId !== null) addToUser(users, request.userId, request)
  }
  return { counts: inOrder(counts), durations: inOrder(durations), userSets: inOrder(userSets), users: inOrder(users) }
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
  user.violations += request.error === LIMIT_REACHED ? 1 : 0
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
