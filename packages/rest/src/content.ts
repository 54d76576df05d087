import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, constants, gzip } from 'node:zlib'
import { isKnown } from '@vault-and-tracker/service-kit/http/conditional-get'
import type { Request, Response } from 'express'

const QUALITY: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }
/** Nearly as small, at a fraction of the time. */
const FAST: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)
const zip = promisify<Buffer, Buffer>(gzip)

/** A body that is kept in memory in each encoding. */
export type Content = {
  /** The media type, with its charset. */
  readonly type: string
  /** A digest of the body. */
  readonly digest: string
  /** By the name of the encoding, the smallest first. */
  readonly bodies: ReadonlyMap<string, Buffer>
}

/** Compresses a body once for all requests. */
export async function createContent(type: string, body: string | Buffer): Promise<Content> {
  const identity = Buffer.from(body)
  const digest = createHash('sha256').update(identity).digest('base64url').slice(0, 27)
  const bodies = { br: await brotli(identity, QUALITY), gzip: await zip(identity), identity }
  return { type: `${type}; charset=utf-8`, digest, bodies: new Map(Object.entries(bodies)) }
}

/**
 * Compresses a response that is sent once, and sets its headers. It is compressed completely before any of it is sent: what
 * a compression stream holds back for a slow client would not count as unread.
 */
export async function compressOnce(request: Request, response: Response, text: string): Promise<Buffer> {
  response.vary('Accept-Encoding')
  const encoding = (['br', 'gzip'] as const).find((each) => request.acceptsEncodings(each) !== false)
  if (encoding === undefined) return Buffer.from(text)
  response.setHeader('Content-Encoding', encoding)
  return encoding === 'br' ? await brotli(Buffer.from(text), FAST) : await zip(Buffer.from(text))
}

/** Sends a body in the smallest encoding that the client accepts, or 304 if the client has it (RFC 9110 section 13). */
export function sendContent(request: Request, response: Response, { type, digest, bodies }: Content): void {
  // Browsers list gzip first without preferring it, so the order of the header does not matter.
  const chosen = [...bodies.keys()].find((encoding) => request.acceptsEncodings(encoding) !== false) ?? 'identity'
  const body = bodies.get(chosen) ?? Buffer.alloc(0)
  const etag = `"${digest}-${chosen}"`
  response.set({ 'Content-Type': type, ETag: etag, Vary: 'Accept-Encoding' })
  if (chosen !== 'identity') response.set('Content-Encoding', chosen)
  if (isKnown(request, etag)) response.status(304).end()
  else response.set('Content-Length', String(body.length)).end(request.method === 'HEAD' ? undefined : body)
}

/**
 * The Content-Security-Policy of a page that loads from its own origin only, without inline code and frames.
 *
 * @param more the sources of directives that differ
 */
export function contentSecurityPolicy(more: Readonly<Record<string, string>>): string {
  const own = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'manifest-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }
  return Object.entries({ ...own, ...more })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ')
}
