import { type InputProblem, readQuery, type Serving } from '@vault-and-tracker/rest'
import type { Sessions } from '../accounts/sessions.ts'
import { createVisitorGuards } from '../accounts/visitors.guard.ts'
import { apiError } from '../errors.ts'
import { createReadBody } from '../http/input.ts'
import { createLimits } from '../http/limits.ts'
import { createUploadSlots, type UploadLimits } from '../http/upload-slots.ts'
import type { TrackerSurface } from '../surface.ts'
import { createUploadMetrics } from '../torrents/uploads.metrics.ts'
import type { Connections } from './connections.ts'

/** A packet holds as much, and the account with its passkey is shorter. Nothing longer has a secret in it. */
const COMPRESS_FROM_BYTES = 1_400

/** An upload holds ten megabytes at most. Somebody who uploads a series sends few at once. */
const UPLOADS: UploadLimits = { perHolder: 3, shared: 8, total: 16 }
/** Nothing comes of a preview, so however many are asked for, they take nothing from uploads. */
const PREVIEWS: UploadLimits = { perHolder: 1, total: 8 }

/** The REST surface: how requests are guarded and read. */
export type Rest = { readonly serving: Serving<TrackerSurface> }

/** Joins limits, sessions and roles into the guards of the REST surface. */
export function createRest({ config, logger, redis, metrics }: Connections, sessions: Sessions): Rest {
  const slots = { uploads: createUploadSlots(UPLOADS), previews: createUploadSlots(PREVIEWS) }
  createUploadMetrics(metrics.registry, () => slots.uploads.taken() + slots.previews.taken())
  const readBody = createReadBody(slots)
  const applyLimit = createLimits({
    redis,
    logger,
    read: config.REST_READ_LIMIT,
    write: config.REST_WRITE_LIMIT,
    authentication: config.AUTH_LIMIT,
  })
  const { proxies } = config
  const publicUrl = new URL(config.PUBLIC_URL)
  return {
    serving: {
      guards: createVisitorGuards({ publicUrl, proxies, sessions, readBody, applyLimit }),
      readBody,
      // A query that nobody reads may be anything.
      readQuery: (request, names) => (names.length === 0 ? {} : readQuery(request.url, names, malformed)),
      malformed,
      notFound: () => apiError('NOT_FOUND'),
      methodNotAllowed: () => apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.'),
      answersHead: true,
      compressFrom: COMPRESS_FROM_BYTES,
      guardsMethods: () => false,
    },
  }
}

function malformed({ name, problem }: InputProblem): Error {
  return apiError('BAD_REQUEST', name === '' ? `The body ${problem}` : `${name}: ${problem}`)
}
