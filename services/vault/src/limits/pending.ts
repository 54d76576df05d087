import { apiError } from '../errors.ts'

/** Work that waits for another service or for Postgres. */
const LIMITS = { total: 500, perClient: 20 }

/**
 * Limits pending work, in total and for each client.
 *
 * @param message of the error if too much is pending
 */
export function createPending(message: string, limits = LIMITS) {
  const clients = new Map<string, number>()
  let total = 0
  /** @throws ApiError unavailable if too much is pending */
  return async <T>(client: string, work: () => Promise<T>): Promise<T> => {
    const own = clients.get(client) ?? 0
    if (total >= limits.total || own >= limits.perClient) throw apiError('unavailable', message)
    total += 1
    clients.set(client, own + 1)
    try {
      return await work()
    } finally {
      total -= 1
      const left = (clients.get(client) ?? 1) - 1
      if (left === 0) clients.delete(client)
      else clients.set(client, left)
    }
  }
}
