import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import { Cluster, type Redis } from 'ioredis'

/** Functions that run inside Redis, loaded from a file of lua/. */
export type RedisFunctions = {
  /**
   * Calls one function. A server that does not have it, because it was restarted, emptied or replaced, is given the
   * library first.
   *
   * @throws UnavailableError when Redis is away or refuses work
   */
  call(name: string, keys: readonly (Buffer | string)[], args: readonly (Buffer | string)[]): Promise<unknown>
}

/**
 * Prepares a library. Its name carries a digest of its source, so releases side by side never call each other's.
 *
 * @param file its name in lua/, which lies beside src/ and dist/
 */
export function createRedisFunctions(redis: Redis | Cluster, file: string): RedisFunctions {
  const source = readFileSync(new URL(`../../lua/${file}.lua`, import.meta.url), 'utf8')
  const version = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const library = `#!lua name=tracker_${file}_${version}\n${source.replaceAll('_VERSION', `_${version}`)}`
  let loading: Promise<void> | undefined

  const load = async (): Promise<void> => {
    const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
    await Promise.all(servers.map((server) => server.call('FUNCTION', 'LOAD', 'REPLACE', library)))
  }
  // Many calls find out at once that the library is missing; one of them loads it.
  const loadOnce = (): Promise<void> =>
    (loading ??= load().finally(() => {
      loading = undefined
    }))

  return {
    call: async (name, keys, args) => {
      const fcall = (): Promise<unknown> =>
        redis.callBuffer('FCALL', `${name}_${version}`, keys.length, ...keys, ...args)
      try {
        try {
          return await fcall()
        } catch (error) {
          if (!isFunctionMissing(error)) throw error
          await loadOnce()
          return await fcall()
        }
      } catch (error) {
        throw isRedisUnavailable(error) ? new UnavailableError('redis', { cause: error }) : error
      }
    },
  }
}

function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}
