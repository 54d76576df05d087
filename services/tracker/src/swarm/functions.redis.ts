import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { orRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import { Cluster, type Redis } from 'ioredis'
import type { RedisFunctions } from './wire.ts'

/**
 * Prepares the functions of a file in lua/. A server that does not have them, because it was restarted, emptied or
 * replaced, is given them at the next call. The library's name carries a digest of its source, so releases that run
 * side by side never call each other's.
 *
 * @param file its name in lua/, which lies beside src/ and dist/, without `.lua`
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
  // Many calls find out at the same time that the library is missing; one of them loads it.
  const loadOnce = (): Promise<void> =>
    (loading ??= load().finally(() => {
      loading = undefined
    }))

  return {
    call: (name, keys, args) => {
      const fcall = (): Promise<unknown> =>
        redis.callBuffer('FCALL', `${name}_${version}`, keys.length, ...keys, ...args)
      return orRedisUnavailable(async () => {
        try {
          return await fcall()
        } catch (error) {
          if (!isFunctionMissing(error)) throw error
          await loadOnce()
          return await fcall()
        }
      })
    },
  }
}

function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}
