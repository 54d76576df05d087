import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'
import { createErrorAnswer } from '../http/errors.middleware.ts'

/** The fields of an upload that our messages name differently. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['category', 'category_id'],
  ['mediaInfo', 'mediainfo'],
])

/** UNIT3D answers an upload that it refuses with 404 and the problems by field, which is what tools read. */
const REFUSED_UPLOAD = { BAD_REQUEST: { status: 404 }, CONFLICT: { status: 404 } } as const
const REFUSED_QUERY = { BAD_REQUEST: { status: 422 } } as const

/** Presents every error in the shape of UNIT3D. */
export function createUnit3dErrorAnswer(logger: Logger): ErrorRequestHandler {
  const ofUploads = createErrorAnswer(logger, {
    statuses: REFUSED_UPLOAD,
    bodyOf: ({ code, message }) =>
      code in REFUSED_UPLOAD
        ? { success: false, message: 'Validation Error.', data: problemsIn(message, code) }
        : { success: false, message },
  })
  const ofOthers = createErrorAnswer(logger, {
    statuses: REFUSED_QUERY,
    bodyOf: ({ message }) => ({ success: false, message }),
  })
  // Express recognises an error handler by its four parameters.
  return (error, request, response, next) =>
    (request.method === 'POST' ? ofUploads : ofOthers)(error, request, response, next)
}

/** The problem of a field. A conflict without one is that of the info hash. */
function problemsIn(message: string, code: string): Readonly<Record<string, readonly string[]>> {
  const [, name, problem = message] = /^(\w+): (.+)$/s.exec(message) ?? []
  const field = name ?? (code === 'CONFLICT' ? 'info_hash' : 'torrent')
  return { [FIELDS.get(field) ?? field]: [problem] }
}
