import { hasTooManyFields } from '@vault-and-tracker/service-kit/http/server'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'

/** Headers of every response: it is never cached, and browsers do not guess its type. */
export const standardHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  next()
}

/**
 * Refuses every transfer coding except `chunked` (RFC 9112 section 6.1), because a proxy and Node may disagree on where
 * such a body ends; and more header fields than Node parses, because the rest may contain a second Host or length. The
 * connection is closed, since the next request on it may start anywhere.
 */
export const plainFramingOnly: RequestHandler = (request, response, next) => {
  if (hasTooManyFields(request)) {
    response.setHeader('Connection', 'close')
    throw apiError('invalid_request', 'The request has more than 100 header fields.')
  }
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    response.setHeader('Connection', 'close')
    throw apiError('invalid_request', 'Transfer-Encoding must be chunked.')
  }
  next()
}

/** Refuses unknown paths. */
export const unknownPath: RequestHandler = () => {
  throw apiError('not_found')
}
