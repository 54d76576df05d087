import { createHash } from 'node:crypto'
import { isError } from '@vault-and-tracker/service-kit/core/errors'
import { Cluster, type Redis } from 'ioredis'
import { type LibraryName, readLibrary } from './libraries.file.ts'

/** Functions that run inside Redis. */
export type RedisFunctions = {
  /**
   * Calls a function.
   *
   * @param name as registered in lua/, without its version
   * @returns integers as numbers, strings as buffers
   * @throws an error that `isUnavailable` recognises if Redis is unavailable or refuses work
   */
  call(name: string, keys: readonly (Buffer | string)[], args: readonly (Buffer | string)[]): Promise<unknown>
}

/**
 * Prepares the functions of a library in lua/. If a server lacks them because it was restarted, emptied or replaced, the
 * next call loads them. The library's name contains a digest of its source, so releases that run side by side never call
 * each other's functions.
 */
export function createRedisFunctions(redis: Redis | Cluster, name: LibraryName): RedisFunctions {
  const source = readLibrary(name)
  const version = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const library = `#!lua name=tracker_${name}_${version}\n${source.replaceAll('_VERSION', `_${version}`)}`
  let loading: Promise<void> | undefined

  const load = async (): Promise<void> => {
    const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
    await Promise.all(servers.map((server) => server.call('FUNCTION', 'LOAD', 'REPLACE', library)))
  }
  // If many concurrent calls find the library missing, one of them loads it.
  const loadOnce = (): Promise<void> =>
    (loading ??= load().finally(() => {
      loading = undefined
    }))

  return {
    call: async (functionName, keys, args) => {
      const fcall = (): Promise<unknown> =>
        redis.callBuffer('FCALL', `${functionName}_${version}`, keys.length, ...keys, ...args)
      try {
        return await fcall()
      } catch (error) {
        if (!isFunctionMissing(error)) throw error
        await loadOnce()
        return await fcall()
      }
    },
  }
}

/** Whether Redis refused a call because its memory is full. */
export function isOutOfMemory(error: unknown): boolean {
  return isError(error) && error.message.startsWith('OOM')
}

function isFunctionMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}
