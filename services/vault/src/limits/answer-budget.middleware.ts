import { UNREAD_LIMITS, type UnreadLimits } from '@vault-and-tracker/service-kit/unread-answers'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'

const MIB = 1024 ** 2

/** The largest environment by default is 4 MiB, and six times that as JSON where every byte of it is escaped. */
export const UNREAD_ANSWERS: UnreadLimits = {
  ...UNREAD_LIMITS,
  maxBytesPerConnection: 48 * MIB,
  maxBytes: 160 * MIB,
}

/** Below the bound at which connections are closed: a tenant that reads nothing is waited for, the others may try again. */
const MAX_WAITING_BYTES = 64 * MIB

/** Less than this is not counted: the system takes nearly every answer at once. */
const COUNTED_BYTES = 64 * 1024

/**
 * Refuses requests while the answers of others, which their clients have not read yet, fill the memory that is meant for
 * them: 503 with `Retry-After`, before a nonce is spent. What waits is given back when an answer has left or its connection
 * has closed; each answer has a deadline.
 */
export function createAnswerBudget(maxBytes = MAX_WAITING_BYTES): RequestHandler {
  let waiting = 0
  return (_request, response, next) => {
    if (waiting > maxBytes) {
      response.setHeader('Retry-After', '1')
      throw apiError('unavailable', 'Too many answers wait to be read by their clients; nothing was done.')
    }
    response.once('prefinish', () => {
      const bytes = response.writableLength
      if (bytes < COUNTED_BYTES) return
      waiting += bytes
      response.once('close', () => {
        waiting -= bytes
      })
    })
    next()
  }
}
