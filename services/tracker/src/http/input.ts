import { finished } from 'node:stream'
import { type Description, type ReadBody, runMiddleware, type Upload } from '@vault-and-tracker/rest'
import express, { type Request, type RequestHandler, type Response } from 'express'
import multer from 'multer'
import { apiError } from '../errors.ts'
import type { TrackerSurface } from './surface.ts'

/** Text fields of an upload, in bytes, and how many. */
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 20
const MAX_JSON = '128kb'

/** How many uploads are held in memory at once. */
const MAX_UPLOADS = 16

const json = express.json({ limit: MAX_JSON, strict: true })

/** Reads the body of a request as its endpoint describes it. A body that was read before is not read again. */
export type ReadRequestBody = (
  endpoint: Description<TrackerSurface>,
  request: Request,
  response: Response,
) => Promise<ReadBody>

/** Reads JSON bodies and uploads, all bounded. */
export function createReadBody(): ReadRequestBody {
  const readUpload = createReadUpload()
  return async ({ upload }, request, response) => {
    if (upload !== undefined) return readUpload(upload, request, response)
    if (request.body === undefined) {
      // A missing body is malformed, which the schema reports in detail; `is` returns null for it.
      if (request.is('application/json') === false)
        throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
      await runMiddleware(json, request, response)
    }
    return { body: request.body as unknown }
  }
}

/** Reads uploads into memory: one file and a few fields. The memory counts until the request has ended. */
function createReadUpload(): (upload: Upload, request: Request, response: Response) => Promise<ReadBody> {
  const parsers = new Map<Upload, RequestHandler>()
  let uploads = 0
  return async (upload, request, response) => {
    if (request.is('multipart/form-data') === false)
      throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as multipart/form-data.')
    if (uploads >= MAX_UPLOADS) throw apiError('UNAVAILABLE', 'Too many uploads at once. Try again in a moment.')
    uploads += 1
    // Unlike the event `close`, this is also called for a response that has ended already.
    finished(response, () => {
      uploads -= 1
    })
    let parser = parsers.get(upload)
    if (parser === undefined) parsers.set(upload, (parser = multipartParser(upload)))
    await runMiddleware(parser, request, response).catch((error: unknown) => {
      throw malformedForm(error)
    })
    return { body: request.body as unknown, file: request.file?.buffer }
  }
}

function multipartParser({ field, maxBytes }: Upload): RequestHandler {
  return multer({
    storage: multer.memoryStorage(),
    limits: {
      fileSize: maxBytes,
      files: 1,
      fields: MAX_FIELDS,
      fieldSize: MAX_FIELD_BYTES,
      fieldNameSize: 100,
      parts: MAX_FIELDS + 1,
      headerPairs: 50,
    },
  }).single(field)
}

/** Forms are kept in memory, so whatever the parser fails with is the client's doing: too much, broken or cut off. */
function malformedForm(error: unknown): Error {
  if (!(error instanceof multer.MulterError))
    return apiError('BAD_REQUEST', 'The multipart body is malformed.', { cause: error })
  return error.code === 'LIMIT_UNEXPECTED_FILE'
    ? apiError('BAD_REQUEST', 'There is a file in a field that takes none.')
    : apiError('PAYLOAD_TOO_LARGE', 'The upload is larger than allowed.')
}
