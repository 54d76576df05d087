import { parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'

/** Headers of every REST response: no caching, framing or content sniffing. */
export const standardHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  next()
}

/** Handles unknown paths. Announces and scrapes arrive here only with a method other than GET. */
export const unknownPath: RequestHandler = (request, response) => {
  if (parseTrackerTarget(request.url) === undefined) throw apiError('NOT_FOUND')
  response.set('Allow', 'GET')
  throw apiError('METHOD_NOT_ALLOWED', 'Use GET for announces and scrapes.')
}
