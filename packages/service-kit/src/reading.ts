import type { Request, RequestHandler, Response } from 'express'

/** Whether a request only reads. */
export function isReading({ method }: Pick<Request, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Names the methods of what can only be read, which an answer 405 has to do (RFC 9110 section 15.5.6). */
export function allowReading(response: Response): void {
  response.setHeader('Allow', 'GET, HEAD')
}

/**
 * Refuses other methods than GET and HEAD, and hands those on.
 *
 * @param methodNotAllowed makes the error; `Allow` is set already
 */
export function readOnly(methodNotAllowed: () => Error): RequestHandler {
  return (request, response, next) => {
    if (!isReading(request)) {
      allowReading(response)
      throw methodNotAllowed()
    }
    next()
  }
}

/**
 * Whether If-None-Match names a tag (RFC 9110 section 13.1.2, weak comparison). Express would not say so of a request
 * with `Cache-Control: no-cache`, which fetch adds by itself, nor of an answer with another status than 200.
 *
 * @param etag with its quotes and without `W/`
 */
export function isKnown(request: Request, etag: string): boolean {
  const sent = request.get('if-none-match') ?? ''
  const known: readonly string[] = sent.match(/"[^"]*"/g) ?? []
  return sent.trim() === '*' || known.includes(etag)
}
