import { type DefineEndpoint, type Description, type Endpoint, endpointsOf } from '@vault-and-tracker/rest'
import type { Session } from './accounts/sessions.ts'
import type { PendingSignIn } from './accounts/sign-ins.ts'
import type { ErrorCode } from './errors.ts'
import type { FeedReader } from './saved-searches/feeds.ts'
import type { Scope } from './tokens/scopes.ts'

/**
 * Who can call an endpoint. `session` is any signed-in member, even a banned one. `account` is an active member, even
 * staff without the second factor that they need. `moderator` includes administrators.
 */
export type VisitorAccess = 'anyone' | 'session' | 'account' | 'member' | 'moderator' | 'admin'
/** Who can call an endpoint; `feed` is the token of a feed. */
export type Access = VisitorAccess | 'feed'

/**
 * The limit that an endpoint counts against. `mail` is `authentication` with the account of an email address, and
 * `second-factor` adds one for guessed codes. `search` and `download` are those of the Torznab API.
 */
export type LimitKind = 'read' | 'write' | 'authentication' | 'mail' | 'second-factor' | 'search' | 'download'

/** The origin of a request, and the session of its cookie or of its API token, if any. */
export type Visitor = {
  readonly address: string
  readonly userAgent: string
  readonly session: Session | undefined
  /** The scope of the API token that opened the endpoint; undefined if none did. */
  readonly scope?: Scope | undefined
  /** The sign-in whose password was right and that waits for the second factor, if any. */
  readonly pending: PendingSignIn | undefined
  setSession(token: string): void
  clearSession(): void
  setPending(token: string): void
}

/** A visitor whose account may call the endpoint. It is active, unless the endpoint requires only a `session`. */
export type SignedInUser = Visitor & { readonly session: Session }

/** The reader of a feed, who has no session. */
export type FeedCaller = FeedReader & { readonly address: string; readonly session: undefined }

/** The types that all endpoints of the tracker share. */
export type TrackerSurface = {
  callers: { anyone: Visitor; feed: FeedCaller } & Record<Exclude<VisitorAccess, 'anyone'>, SignedInUser>
  limit: LimitKind
  code: ErrorCode
}

/** An endpoint of the tracker; `Deps` are the use cases that its handler calls. */
export type TrackerEndpoint<Deps> = Endpoint<TrackerSurface, Deps>

/** Returns the function that defines endpoints whose handlers call the given use cases. */
export function endpoints<Deps>(): DefineEndpoint<TrackerSurface, Deps> {
  return endpointsOf<TrackerSurface, Deps>()
}

/** The error codes of an endpoint: its own, and those of its guard and its input. */
export function codesOf(endpoint: Description<TrackerSurface>): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(endpoint.errors)
  const { method, access, params, query, body, upload } = endpoint
  const hasBody = body !== undefined || upload !== undefined
  if (params !== undefined || query !== undefined || hasBody) codes.add('BAD_REQUEST')
  if (access !== 'anyone') codes.add('UNAUTHORIZED').add('FORBIDDEN')
  if (access === 'member' || access === 'moderator' || access === 'admin') codes.add('SECOND_FACTOR_MISSING')
  if (method !== 'GET') codes.add('FORBIDDEN')
  if (hasBody) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE')
  if (upload !== undefined) codes.add('TOO_SLOW')
  codes.add('RATE_LIMITED').add('INTERNAL_ERROR').add('UNAVAILABLE')
  return [...codes]
}
