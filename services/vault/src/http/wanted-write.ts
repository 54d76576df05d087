import type { Response } from 'express'
import { createWanted, type Wanted } from '../limits/wanted.ts'

/** Whether the client of a request that writes still waits for its answer; undefined for a request that reads. */
export function wantedWrite(response: Response): Wanted | undefined {
  if (response.req.method === 'GET') return undefined
  return createWanted((gone) => {
    if (response.req.socket.destroyed) gone()
    else response.once('close', gone)
  })
}
