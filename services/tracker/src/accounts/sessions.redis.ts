import type { Redis } from 'ioredis'
import { MAX_SESSION_AGE_MS, type SessionStore, type StoredSession } from './sessions.ts'

const sessionKey = (tokenHash: string): string => `session:${tokenHash}`
const indexKey = (userId: string): string => `sessions:${userId}`

/**
 * Sessions in Redis: one expiring key per session, and one index per user from session id to token hash. The index is
 * written first, and the next listing removes entries without a session.
 */
export function createSessionStore(redis: Redis): SessionStore {
  return {
    async save(tokenHash, session, ttlMs) {
      const index = indexKey(session.userId)
      await redis.multi().hset(index, session.id, tokenHash).pexpire(index, MAX_SESSION_AGE_MS).exec()
      await redis.set(sessionKey(tokenHash), JSON.stringify(session), 'PX', ttlMs)
    },

    async touch(tokenHash, session, ttlMs) {
      await redis.set(sessionKey(tokenHash), JSON.stringify(session), 'PX', ttlMs, 'XX')
    },

    async byTokenHash(tokenHash) {
      return parse(await redis.get(sessionKey(tokenHash)))
    },

    async listOf(userId) {
      const entries = Object.entries(await redis.hgetall(indexKey(userId)))
      const found = await Promise.all(
        entries.map(async ([id, tokenHash]) => {
          const session = parse(await redis.get(sessionKey(tokenHash)))
          return { id, tokenHash, session }
        }),
      )
      const gone = found.filter(({ session }) => session === undefined).map(({ id }) => id)
      if (gone.length > 0) await redis.hdel(indexKey(userId), ...gone)
      return found.flatMap(({ tokenHash, session }) => (session === undefined ? [] : [{ tokenHash, session }]))
    },

    async remove(tokenHash, userId, id) {
      await redis.del(sessionKey(tokenHash))
      await redis.hdel(indexKey(userId), id)
    },
  }
}

/** Parses a session that `save` wrote. */
function parse(text: string | null): StoredSession | undefined {
  return text === null ? undefined : (JSON.parse(text) as StoredSession)
}
