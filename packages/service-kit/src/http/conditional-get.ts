import type { Request, RequestHandler, Response } from 'express'

/** Whether a request only reads. */
export function isReading({ method }: Pick<Request, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Sets `Allow` for a resource that can only be read, as a 405 must (RFC 9110 section 15.5.6). */
export function allowReading(response: Response): void {
  response.setHeader('Allow', 'GET, HEAD')
}

/** Refuses methods other than GET and HEAD with the error of `methodNotAllowed`. */
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
 * Whether If-None-Match contains a tag (RFC 9110 section 13.1.2, weak comparison). Express ignores the header if the request
 * has `Cache-Control: no-cache`, which fetch adds automatically, or if the status is not 200.
 *
 * @param etag with its quotes and without `W/`
 */
export function isKnown(request: Request, etag: string): boolean {
  const sent = request.get('if-none-match') ?? ''
  const known: readonly string[] = sent.match(/"[^"]*"/g) ?? []
  return sent.trim() === '*' || known.includes(etag)
}
