import type { Guard, Serving } from '@vault-and-tracker/rest'
import { MAX_SESSION_AGE_MS, type Sessions } from '../accounts/sessions.ts'
import { apiError } from '../errors.ts'
import { createReadBody } from '../http/input.ts'
import { createLimits } from '../http/limits.ts'
import type { Access, SignedInUser, TrackerSurface, Visitor } from '../http/surface.ts'
import { createFindVisitor, isCrossSite, mayAccess } from '../http/visitor.ts'
import type { Connections } from './connections.ts'

/** A packet holds as much, and the account with its passkey is shorter. Nothing longer has a secret in it. */
const COMPRESS_FROM_BYTES = 1_400

/** The REST surface: how requests are guarded and read. */
export type Rest = { readonly serving: Serving<TrackerSurface> }

/** Joins limits, sessions and roles into the guards of the REST surface. */
export function createRest({ config, logger, redis }: Connections, sessions: Sessions): Rest {
  const ownOrigin = new URL(config.PUBLIC_URL).origin
  const readBody = createReadBody()
  const findVisitor = createFindVisitor({
    secure: config.PUBLIC_URL.startsWith('https:'),
    cookieMaxAgeMs: MAX_SESSION_AGE_MS,
    proxies: config.proxies,
    findSession: (token) => sessions.find(token),
  })
  const applyLimit = createLimits({
    redis,
    logger,
    read: config.REST_READ_LIMIT,
    write: config.REST_WRITE_LIMIT,
    authentication: config.AUTH_LIMIT,
  })

  const anyone: Guard<TrackerSurface, Visitor> = async (endpoint, request, response) => {
    const from = { secFetchSite: request.get('sec-fetch-site'), origin: request.get('origin') }
    if (endpoint.method !== 'GET' && isCrossSite(from, ownOrigin))
      throw apiError('FORBIDDEN', 'This request was made by another site.')
    const visitor = await findVisitor(request, response)
    // Sign-in attempts are counted by the account they name, so their body is read first.
    if (endpoint.limit === 'authentication') await readBody(endpoint, request, response)
    await applyLimit(endpoint.limit, request, response, visitor)
    return visitor
  }
  const signedIn: Guard<TrackerSurface, SignedInUser> = async (endpoint, request, response) => {
    const visitor = await anyone(endpoint, request, response)
    return requireAccess(visitor, endpoint.access)
  }
  const guards = { anyone, session: signedIn, member: signedIn, moderator: signedIn, admin: signedIn }
  return {
    serving: {
      guards,
      readBody,
      readQuery: (request) => request.query,
      malformed: ({ name, problem }) =>
        apiError('BAD_REQUEST', name === '' ? 'The body is malformed.' : `${name}: ${sentence(problem)}`),
      notFound: () => apiError('NOT_FOUND'),
      methodNotAllowed: () => apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.'),
      answersHead: true,
      compressFrom: COMPRESS_FROM_BYTES,
      guardsMethods: () => false,
    },
  }
}

function requireAccess(visitor: Visitor, access: Access): SignedInUser {
  const { session } = visitor
  if (session === undefined) throw apiError('UNAUTHORIZED', 'Sign in first.')
  const { state, role } = session.account
  if (state !== 'active' && access !== 'session') throw apiError('FORBIDDEN', `This account is ${state}.`)
  if (!mayAccess(role, access)) throw apiError('FORBIDDEN', 'Your role does not allow this.')
  return { ...visitor, session }
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}
