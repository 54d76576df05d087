import type { ReadBody, Upload } from '@vault-and-tracker/rest'
import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { runMiddleware } from '@vault-and-tracker/service-kit/http/rate-limit'
import express, { type Request, type RequestHandler, type Response } from 'express'
import multer, { type StorageEngine } from 'multer'
import { apiError, isApiError } from '../errors.ts'
import type { LimitKind, Visitor } from '../surface.ts'

/** Limits on the text fields of an upload. */
const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 20
const MAX_JSON = '128kb'

/** Seconds after which a refused upload may be tried again. */
const RETRY_AFTER = '5'

const json = express.json({ limit: MAX_JSON, strict: true })

/** A body may take this long, plus a second per `MIN_BYTES_PER_SECOND`, so that idle clients do not keep slots. */
const GRACE_MS = 10_000
const MIN_BYTES_PER_SECOND = 16 * 1024
const CHECK_EVERY_MS = 500

/** Slots for uploads and for previews. */
type Slots = { readonly uploads: UploadSlots; readonly previews: UploadSlots }

/** Whose slots an upload takes. */
export type Uploader = Pick<Visitor, 'session' | 'address'>

/** Reads the body of a request as its endpoint describes it, once per request. */
export type ReadRequestBody = (
  endpoint: { readonly upload?: Upload; readonly limit: LimitKind },
  request: Request,
  response: Response,
  caller: Uploader,
) => Promise<ReadBody>

/** Reads JSON bodies and uploads within their limits. */
export function createReadBody(slots: Slots): ReadRequestBody {
  return async ({ upload, limit }, request, response, caller) => {
    // An upload that counts as a read is a preview.
    const ofKind = limit === 'read' ? slots.previews : slots.uploads
    if (upload !== undefined) return readUpload(upload, ofKind, request, response, caller)
    if (request.body === undefined) {
      // A missing body is malformed, which the schema reports in detail; `is` returns null for it.
      if (request.is('application/json') === false)
        throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
      await runMiddleware(json, request, response)
    }
    return { body: request.body as unknown }
  }
}

/**
 * Reads an upload into memory: one file and a few fields. The upload has its slot until its handler has returned, because
 * the handler works with the bytes even if the client has disconnected.
 */
async function readUpload(
  upload: Upload,
  slots: UploadSlots,
  request: Request,
  response: Response,
  caller: Uploader,
): Promise<ReadBody> {
  if (request.is('multipart/form-data') === false)
    throw apiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as multipart/form-data.')
  const release = takeSlot(slots, response, caller)
  try {
    // The parser would never finish a request that was cut off before it started.
    if (request.destroyed) throw apiError('BAD_REQUEST', 'The request was cut off.')
    await inTime(request, runMiddleware(multipartParser(upload), request, response))
  } catch (error) {
    release()
    throw malformedForm(error)
  }
  return { ...formOf(request, upload), release }
}

/** The fields of a parsed form, with its attachments among them, and its file. */
function formOf(request: Request, { field, attachments = {} }: Upload): Pick<ReadBody, 'body' | 'file'> {
  const files = request.files !== undefined && !Array.isArray(request.files) ? request.files : {}
  const bytesOf = (name: string): Buffer | undefined => files[name]?.[0]?.buffer
  const attached = Object.keys(attachments).flatMap((name) => {
    const bytes = bytesOf(name)
    return bytes === undefined ? [] : [[name, bytes.toString('base64')] as const]
  })
  const fields = request.body as Readonly<Record<string, unknown>> | undefined
  return { body: fields && { ...fields, ...Object.fromEntries(attached) }, file: bytesOf(field) }
}

/** Waits for a body while it arrives fast enough. @throws ApiError TOO_SLOW otherwise */
async function inTime(request: Request, reading: Promise<void>): Promise<void> {
  const { socket } = request
  const [started, before] = [performance.now(), socket.bytesRead]
  let timer: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      const allowedMs = GRACE_MS + (1000 * (socket.bytesRead - before)) / MIN_BYTES_PER_SECOND
      if (!request.complete && performance.now() - started > allowedMs) reject(apiError('TOO_SLOW'))
    }, CHECK_EVERY_MS)
  })
  try {
    await Promise.race([reading, tooSlow])
  } finally {
    clearInterval(timer)
  }
}

/** Slots are counted per member, or per address without a session. */
function takeSlot(slots: UploadSlots, response: Response, { session, address }: Uploader): () => void {
  try {
    return slots.take(session?.account.id ?? addressKey(address))
  } catch (error) {
    response.setHeader('Retry-After', RETRY_AFTER)
    throw error
  }
}

function multipartParser({ field, maxBytes, attachments = {}, maxFields = MAX_FIELDS }: Upload): RequestHandler {
  const most = new Map([[field, maxBytes], ...Object.entries(attachments)])
  return multer({
    storage: memoryWithin((name) => most.get(name) ?? 0),
    limits: {
      fileSize: maxBytes,
      files: most.size,
      fields: maxFields,
      fieldSize: MAX_FIELD_BYTES,
      fieldNameSize: 100,
      parts: maxFields + most.size,
      headerPairs: 50,
    },
  }).fields([...most.keys()].map((name) => ({ name, maxCount: 1 })))
}

/** Keeps each file in memory up to the size that its field allows. */
function memoryWithin(maxBytesOf: (field: string) => number): StorageEngine {
  return {
    _handleFile: (_request, { fieldname, stream }, done) => {
      const chunks: Buffer[] = []
      let size = 0
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytesOf(fieldname)) chunks.push(chunk)
      })
      stream.on('error', done)
      stream.on('end', () => {
        if (size > maxBytesOf(fieldname)) done(new multer.MulterError('LIMIT_FILE_SIZE', fieldname))
        else done(null, { buffer: Buffer.concat(chunks) })
      })
    },
    _removeFile: (_request, _file, done) => done(null),
  }
}

/** Forms are parsed in memory, so every parser error is the client's: too large, malformed or cut off. */
function malformedForm(error: unknown): Error {
  if (isApiError(error)) return error
  if (!(error instanceof multer.MulterError))
    return apiError('BAD_REQUEST', 'The multipart body is malformed.', { cause: error })
  return error.code === 'LIMIT_UNEXPECTED_FILE'
    ? apiError('BAD_REQUEST', 'A field contains a file but does not accept one.')
    : apiError('PAYLOAD_TOO_LARGE', 'The upload is larger than allowed.')
}

/**
 * Concurrent uploads in memory: `perHolder` and `total`. Beyond `shared`, only holders without a slot get one, so that a
 * few holders cannot take them all.
 */
export type UploadLimits = { readonly perHolder: number; readonly shared?: number; readonly total: number }

/** Slots, which uploads need while their bytes are in memory. */
export type UploadSlots = {
  /**
   * Takes a slot.
   *
   * @returns a function that releases the slot; call it once the bytes are no longer in use
   * @throws ApiError RATE_LIMITED if the holder has too many slots, UNAVAILABLE if none is left
   */
  take(holder: string): () => void
  /** The number of taken slots. */
  taken(): number
}

/** Creates the slots. The bound per holder keeps stalled uploads from taking slots from others. */
export function createUploadSlots({ perHolder, shared = 0, total }: UploadLimits): UploadSlots {
  const takenBy = new Map<string, number>()
  let taken = 0

  function giveBack(holder: string): void {
    taken -= 1
    const others = (takenBy.get(holder) ?? 1) - 1
    if (others === 0) takenBy.delete(holder)
    else takenBy.set(holder, others)
  }

  return {
    take(holder) {
      const own = takenBy.get(holder) ?? 0
      if (own >= perHolder || (own > 0 && taken >= shared))
        throw apiError('RATE_LIMITED', 'You are sending too many files at once. Wait for one of them to finish.')
      if (taken >= total) throw apiError('UNAVAILABLE', 'Too many concurrent uploads. Try again in a moment.')
      taken += 1
      takenBy.set(holder, own + 1)
      let isGivenBack = false
      return () => {
        if (isGivenBack) return
        isGivenBack = true
        giveBack(holder)
      }
    },
    taken: () => taken,
  }
}
