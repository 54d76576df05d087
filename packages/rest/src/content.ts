import { isKnown } from '@vault-and-tracker/service-kit/reading'
import type { Request, Response } from 'express'

/** A content that is kept in memory, in each encoding that there is. */
export type Content = {
  /** The media type, with its charset where it has one. */
  readonly type: string
  /** A digest of the content. */
  readonly digest: string
  /** By the name of the encoding, the smallest first; one of them is `identity`. */
  readonly bodies: ReadonlyMap<string, Buffer>
}

/** Sends a content in the smallest encoding that the client takes, or 304 where the client has it (RFC 9110 section 13). */
export function sendContent(request: Request, response: Response, { type, digest, bodies }: Content): void {
  // Browsers name gzip first and mean no preference; ours is the smallest.
  const chosen = [...bodies.keys()].find((encoding) => request.acceptsEncodings(encoding) !== false) ?? 'identity'
  const body = bodies.get(chosen) ?? Buffer.alloc(0)
  const etag = `"${digest}-${chosen}"`
  response.set({ 'Content-Type': type, ETag: etag, Vary: 'Accept-Encoding' })
  if (chosen !== 'identity') response.set('Content-Encoding', chosen)
  if (isKnown(request, etag)) response.status(304).end()
  else response.set('Content-Length', String(body.length)).end(request.method === 'HEAD' ? undefined : body)
}

/**
 * The Content-Security-Policy of a page that loads from its own origin alone: nothing inline, nothing framed.
 *
 * @param more the sources of directives that differ, or that the page needs besides
 */
export function contentSecurityPolicy(more: Readonly<Record<string, string>>): string {
  const own = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }
  return Object.entries({ ...own, ...more })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ')
}
