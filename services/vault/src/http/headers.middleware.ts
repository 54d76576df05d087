import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'

/** Headers of every answer: no cache keeps anything of the vault, and no browser guesses a type. */
export const standardHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  next()
}

/** Answers a path that names nothing. */
export const unknownPath: RequestHandler = () => {
  throw apiError('not_found')
}
