import type { Request, RequestHandler, Response } from 'express'
import { isError } from '../core/errors.ts'

/** Runs Express middleware. Resolves when it passes the request on. @throws the error that it passes to `next` */
export function runMiddleware(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown): void => {
      if (error === undefined) resolve()
      // Some libraries throw errors that inherit from Error but were not created by it.
      else reject(isError(error) || error instanceof Error ? error : new Error('middleware failed', { cause: error }))
    }
    Promise.resolve(handler(request, response, next)).catch(next)
  })
}
