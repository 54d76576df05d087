import { type InputProblem, readQuery, type Serving } from '@vault-and-tracker/rest'
import { observe } from '@vault-and-tracker/service-kit/metrics/registry'
import { createVisitorGuards } from '../accounts/visitors.guard.ts'
import type { Addresses } from '../addresses/addresses.ts'
import { apiError } from '../errors.ts'
import { createReadBody, createUploadSlots, type UploadLimits } from '../http/input.ts'
import { createLimits } from '../http/limits.ts'
import { createFeedGuard } from '../saved-searches/feeds.guard.ts'
import type { Feeds } from '../saved-searches/feeds.ts'
import type { TrackerSurface } from '../surface.ts'
import { createTokenAdmission, createTokenGuard } from '../tokens/api-tokens.guard.ts'
import { createUnit3dGuards, type Unit3dSurface } from '../unit3d/unit3d.guard.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Connections } from './connections.ts'
import type { TokenUseCases } from './tokens.ts'

/** About one packet. The only response with a secret, an account with its passkey, is shorter. */
const COMPRESS_FROM_BYTES = 1_400

/** An upload takes at most 10 MiB. Even members who upload a whole series send only a few files at once. */
const UPLOADS: UploadLimits = { perHolder: 3, shared: 8, total: 16 }
/** Previews have separate slots, so they never delay uploads. */
const PREVIEWS: UploadLimits = { perHolder: 1, total: 8 }
/** Forms with the token in a field, which are read before their member is known. They never take slots of members. */
const UNIDENTIFIED: UploadLimits = { perHolder: 1, total: 2 }

/** The REST surface, and that of UNIT3D's API: guards and parsing of requests. */
export type Rest = { readonly serving: Serving<TrackerSurface>; readonly unit3d: Serving<Unit3dSurface> }

/** Creates the guards of the REST surface from limits, sessions, roles and the tokens of feeds. */
export function createRest(
  { config, logger, redis, metrics }: Connections,
  parts: Pick<AccountUseCases, 'sessions' | 'signIns' | 'isFactorRequired'> &
    Pick<TokenUseCases, 'apiTokens'> & { readonly feeds: Feeds; readonly addresses: Addresses },
): Rest {
  const { sessions, signIns, isFactorRequired, feeds, apiTokens, addresses } = parts
  const slots = { uploads: createUploadSlots(UPLOADS), previews: createUploadSlots(PREVIEWS) }
  const unidentified = createUploadSlots(UNIDENTIFIED)
  const all = [slots.uploads, slots.previews, unidentified]
  observe(
    metrics.registry,
    'tracker_uploads',
    'Uploads and previews currently being received, read or stored; each takes a slot.',
    () => all.reduce((sum, each) => sum + each.taken(), 0),
  )
  const readBody = createReadBody(slots)
  const applyLimit = createLimits({
    redis,
    logger,
    read: config.REST_READ_LIMIT,
    write: config.REST_WRITE_LIMIT,
    staffWrite: config.REST_STAFF_WRITE_LIMIT,
    authentication: config.AUTH_LIMIT,
  })
  const { proxies } = config
  const publicUrl = new URL(config.PUBLIC_URL)
  const { anyone, member } = createVisitorGuards({
    ...{ publicUrl, proxies, sessions, signIns, isFactorRequired, readBody, applyLimit },
  })
  const admit = createTokenAdmission({ proxies, applyLimit, recordAddress: addresses.record })
  const signedIn = createTokenGuard({ tokens: apiTokens, admit, sessions: member })
  const { readBody: readUnit3dBody, ...unit3dGuards } = createUnit3dGuards({
    ...{ tokens: apiTokens, admit, proxies, applyLimit, readBody },
    readForm: createReadBody({ uploads: unidentified, previews: unidentified }),
  })
  const shared = {
    malformed,
    notFound: () => apiError('NOT_FOUND'),
    methodNotAllowed: () => apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.'),
    answersHead: true,
    guardsMethods: () => false,
  }
  return {
    serving: {
      ...shared,
      guards: {
        ...{ anyone, session: signedIn, account: signedIn, member: signedIn, moderator: signedIn, admin: signedIn },
        feed: createFeedGuard({ feeds, proxies, sessions: member }),
      },
      readBody,
      // Endpoints without query parameters accept any query.
      readQuery: (request, names) => (names.length === 0 ? {} : readQuery(request.url, names, malformed)),
      compressFrom: COMPRESS_FROM_BYTES,
    },
    // Not compressed, because links contain keys.
    unit3d: {
      ...shared,
      guards: {
        ...unit3dGuards,
        session: (endpoint, request, response) => signedIn({ ...endpoint, access: 'member' }, request, response),
      },
      readBody: readUnit3dBody,
      // Must not throw: the body may have been read by then.
      readQuery: (request) => ({ raw: request.url.split('?')[1] ?? '' }),
    },
  }
}

function malformed({ name, problem }: InputProblem): Error {
  return apiError('BAD_REQUEST', name === '' ? `The body ${problem}` : `${name}: ${problem}`)
}
