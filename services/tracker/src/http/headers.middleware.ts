import { parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'

/** Headers of every REST answer: not cached, not framed, and read as the type that it declares. */
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

/** Answers a path that names nothing. Announces and scrapes that come here were made with another method than GET. */
export const unknownPath: RequestHandler = (request, response) => {
  if (parseTrackerTarget(request.url) === undefined) throw apiError('NOT_FOUND')
  response.set('Allow', 'GET')
  throw apiError('METHOD_NOT_ALLOWED', 'Announces and scrapes are made with GET.')
}
