import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_SCRAPE_INFO_HASHES } from '@vault-and-tracker/bencode-tracker'
import { type BatcherOptions, createCallQueue, type QueuedCalls } from '@vault-and-tracker/service-kit/core/batch'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { Cluster, type Redis } from 'ioredis'
import { createRedisFunctions, isOutOfMemory } from '../redis/functions.redis.ts'
import type { SwarmCounts, SwarmName, SwarmRequest, SwarmScrape, SwarmSettings, Swarms } from './swarm.ts'
import {
  ANNOUNCE_LENGTH,
  decodeAnswer,
  decodeCounts,
  encodeSettings,
  KEY_LENGTH,
  piecesOf,
  swarmKey,
  TAGS,
  tagOf,
  tagPrefix,
  unknownForm,
  writeAnnounce,
  writeScrape,
} from './wire.ts'

/**
 * A call costs several times as much as an announce in it, so a busy tracker batches announces. A second call may be on
 * its way while Redis works on the first. Redis blocks during a call, hence the maximum size.
 */
const CALLS: BatcherOptions = { concurrency: 2, maxBatchSize: 64, lingerMs: 2, isReady: (waiting) => waiting >= 16 }
/** Browsers wait seconds for WebRTC, so announces over sockets can wait longer for a batch. */
const SOCKET_CALLS: BatcherOptions = { ...CALLS, lingerMs: 4, isReady: (waiting) => waiting >= 64 }
/** The pause between two calls of a sweep, as a multiple of the duration of the first. */
const SWEEP_PAUSE = 4
/** Swarms per call that removes an owner. */
const EXPEL_SWARMS = 100

type Request = SwarmRequest | SwarmScrape
/** A reply, and the index of the first item of each answer in it. */
type Answers = { readonly reply: readonly Buffer[]; readonly firsts: readonly number[] }

/**
 * Creates swarms in Redis, shared by all processes of the tracker. Announces that arrive at about the same time share a
 * call; each is still atomic.
 *
 * @param options `random` returns numbers from 0 to 1; `clock` replaces the time of Redis in tests
 */
export function createRedisSwarms(options: {
  redis: Redis | Cluster
  clock: Clock | undefined
  settings: SwarmSettings
  random: () => number
}): Swarms {
  const { redis, clock, settings } = options
  const functions = createRedisFunctions(redis, 'swarm')
  const random32 = (): number => Math.floor(options.random() * 0x1_0000_0000)
  const settingsNow = (): Buffer => encodeSettings(settings, Math.floor((clock?.now() ?? 0) / 1000))

  const perTag = redis instanceof Cluster
  const carryOut = async (name: 'announce' | 'stop', requests: readonly Request[]): Promise<Answers> => {
    const announces = Buffer.allocUnsafe(requests.length * ANNOUNCE_LENGTH)
    requests.forEach((request, i) => {
      if (request.peer === undefined) writeScrape(announces, i * ANNOUNCE_LENGTH, request)
      else writeAnnounce(announces, i * ANNOUNCE_LENGTH, request, random32())
    })
    // A single Redis needs only one key. A Cluster refuses the whole call while one of its keys moves to another node.
    const count = perTag ? requests.length : 1
    const keys = Array.from({ length: count }, (_, i) =>
      announces.subarray(i * ANNOUNCE_LENGTH, i * ANNOUNCE_LENGTH + KEY_LENGTH),
    )
    const reply = buffersOf(await functions.call(name, keys, [settingsNow(), announces]))
    return { reply, firsts: piecesOf(reply, requests.length) }
  }
  const tell = (requests: readonly Request[], { reply, firsts }: Answers): void => {
    requests.forEach((request, i) => {
      // An error in one answer must not fail the other answers of the call.
      try {
        if (request.peer === undefined) request.answered(decodeCounts(reply, i))
        else request.answered(decodeAnswer(reply, i, firsts[i] ?? 0, firsts[i + 1] ?? 0, request))
      } catch (error) {
        request.failed(error)
      }
    })
  }
  /** Stops and scrapes need no memory, so they are retried with a function that a full Redis still runs. */
  const failUnlessFull = (requests: readonly Request[], error: unknown): void => {
    for (const request of requests)
      if (isOutOfMemory(error) && (request.peer === undefined || request.peer.state === 'stopped'))
        whileFull(swarmOf(request))(request)
      else request.failed(error)
  }
  const announcing: QueuedCalls<Request, Answers> = {
    run: (requests) => carryOut('announce', requests),
    answered: tell,
    failed: failUnlessFull,
  }
  const overHttp = forTags(perTag, () => createCallQueue(announcing, CALLS))
  const overSockets = forTags(perTag, () => createCallQueue(announcing, SOCKET_CALLS))
  /** For long lists of swarms, so that announces do not wait behind them. */
  const lists = forTags(perTag, () => createCallQueue(announcing, CALLS))
  const stopping: QueuedCalls<Request, Answers> = {
    run: (requests) => carryOut('stop', requests),
    answered: tell,
    failed: (requests, error) => {
      for (const request of requests) request.failed(error)
    },
  }
  const whileFull = forTags(perTag, () => createCallQueue(stopping, CALLS))

  const probe = (tag: number): Promise<unknown> => functions.call('probe', [`${tagPrefix(tag)}x`], [])
  const check = async (): Promise<void> => {
    await Promise.all(Array.from({ length: perTag ? TAGS : 1 }, (_, tag) => probe(tag)))
  }
  const failsForMemory = async (probing: Promise<unknown>): Promise<boolean> => {
    try {
      await probing
      return false
    } catch (error) {
      if (isOutOfMemory(error)) return true
      throw error
    }
  }

  return {
    announce: (request) => (request.socket === undefined ? overHttp : overSockets)(request.peer.swarm)(request),

    evict: async (process) => {
      for (let tag = 0; tag < TAGS; tag++) {
        const names = await redis.smembersBuffer(Buffer.concat([Buffer.from(`${tagPrefix(tag)}m:`), process]))
        for (const name of names) {
          let cursor = '0'
          do cursor = String(await functions.call('evict', [swarmKey(name)], [settingsNow(), process, cursor]))
          while (cursor !== '0')
        }
      }
    },

    count: (swarms) => {
      const queueOf = swarms.length > MAX_SCRAPE_INFO_HASHES ? lists : overHttp
      const countOne = ({ name, completed }: { name: SwarmName; completed: number }): Promise<SwarmCounts> =>
        new Promise((answered, failed) => queueOf(name)({ peer: undefined, name, completed, answered, failed }))
      return Promise.all(swarms.map(countOne))
    },

    sweep: async () => {
      let relieved = 0
      for (let tag = 0; tag < TAGS; tag++) {
        const keys = [`${tagPrefix(tag)}x`]
        for (let more: unknown = 1; more === 1; ) {
          const startedMs = performance.now()
          more = await functions.call('sweep', keys, [settingsNow()])
          if (more === 1) await sleep((performance.now() - startedMs) * SWEEP_PAUSE)
        }
        if ((await failsForMemory(probe(tag))) && (await functions.call('relieve', keys, [settingsNow()])) === 1)
          relieved += 1
      }
      return relieved
    },

    expel: async (owner, names) => {
      const groups = new Map<number, SwarmName[]>()
      for (const name of names) {
        const key = perTag ? tagOf(name) : 0
        const group = groups.get(key)
        if (group === undefined) groups.set(key, [name])
        else group.push(name)
      }
      for (const group of groups.values())
        for (let i = 0; i < group.length; i += EXPEL_SWARMS) {
          const keys = group.slice(i, i + EXPEL_SWARMS).map(swarmKey)
          await functions.call('expel', keys, [settingsNow(), owner])
        }
    },

    check,
    isFull: () => failsForMemory(check()),
  }
}

function swarmOf(request: Request): SwarmName {
  return request.peer === undefined ? request.name : request.peer.swarm
}

/** The keys of a call to a Cluster must share a slot, and so a tag: there each tag has its own queue. */
function forTags<Batcher>(perTag: boolean, create: () => Batcher): (name: SwarmName) => Batcher {
  if (!perTag) {
    const only = create()
    return () => only
  }
  const batchers = new Map<number, Batcher>()
  return (name) => {
    const tag = tagOf(name)
    let batcher = batchers.get(tag)
    if (batcher === undefined) batchers.set(tag, (batcher = create()))
    return batcher
  }
}

function buffersOf(reply: unknown): Buffer[] {
  if (!Array.isArray(reply) || !reply.every((item) => Buffer.isBuffer(item))) throw unknownForm()
  return reply
}
