import { closeRedis } from '@vault-and-tracker/service-kit/redis/connection'
import type { Cluster, Redis } from 'ioredis'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { SocketCounts } from './counts.ts'
import type { Relays } from './relay.ts'

/** A longer publication would delay other commands in Redis. */
const MAX_PUBLICATION = 262_144
const PROCESSES = 'tracker:sockets:processes'
/** Three beats, five seconds apart. */
const GONE_AFTER_S = 15

/** The Redis channel of one process. The logical databases of a server share their channels. */
export function relayChannel(database: number, process: string): string {
  return `tracker:sockets:${String(database)}:${process}`
}

/**
 * Publishes messages for other processes. All messages to a process in one turn of the event loop are one publication.
 *
 * @param redis a dedicated connection
 */
export function createRelays(redis: Redis, counts: SocketCounts): Relays {
  const waiting = new Map<string, string[]>()

  const publish = (process: string, lines: readonly string[]): void => {
    const published = redis.publish(relayChannel(redis.options.db ?? 0, process), lines.join('\n')).catch(() => 0)
    void published.then((receivers) => {
      if (receivers === 0) counts.dropped.unreachable += lines.length
    })
  }

  const flush = (): void => {
    for (const [process, lines] of waiting) {
      let start = 0
      let length = 0
      for (const [i, line] of lines.entries()) {
        if (length > 0 && length + line.length > MAX_PUBLICATION) {
          publish(process, lines.slice(start, i))
          start = i
          length = 0
        }
        length += line.length
      }
      publish(process, lines.slice(start))
    }
    waiting.clear()
  }

  return {
    send: (process, message) => {
      if (waiting.size === 0) setImmediate(flush)
      const line = JSON.stringify(message)
      const lines = waiting.get(process)
      if (lines === undefined) waiting.set(process, [line])
      else lines.push(line)
    },
    close: () => closeRedis(redis),
  }
}

/**
 * The processes of the tracker that have sockets. Methods throw an error that `isUnavailable` recognises if Redis is
 * unavailable.
 */
export type Processes = {
  /** Renews this process, which counts as stopped 15 seconds after the last call. */
  beat(): Promise<void>
  /** The stopped processes that are still registered. */
  gone(): Promise<readonly Buffer[]>
  forget(process: Buffer): Promise<void>
}

/**
 * Each running process has a key that expires, so only the clock of Redis counts. A full Redis also renews it;
 * otherwise all processes would seem to have stopped.
 */
export function createProcesses(redis: Redis | Cluster, process: Buffer): Processes {
  const functions = createRedisFunctions(redis, 'background')
  const name = process.toString('hex')
  const keyOf = (each: string): string => `tracker:sockets:process:${each}`
  return {
    beat: async () => {
      await Promise.all([
        functions.call('beat', [keyOf(name)], [String(GONE_AFTER_S)]),
        functions.call('enlist', [PROCESSES], [name]),
      ])
    },
    gone: async () => {
      const names = await redis.smembers(PROCESSES)
      const running = await Promise.all(names.map((each) => redis.exists(keyOf(each))))
      return names.filter((_, i) => running[i] === 0).map((each) => Buffer.from(each, 'hex'))
    },
    forget: async (each) => {
      await redis.del(keyOf(each.toString('hex')))
      await redis.srem(PROCESSES, each.toString('hex'))
    },
  }
}
