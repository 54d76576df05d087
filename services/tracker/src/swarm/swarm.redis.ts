import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { Cluster, type Redis } from 'ioredis'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { SwarmCounts, SwarmName, SwarmSettings, Swarms } from './swarm.ts'
import {
  decodeAnswer,
  decodeCounts,
  decodeSocketAnswer,
  encodeAnnounce,
  encodeSettings,
  splitAnswers,
  swarmKey,
  TAGS,
  tagOf,
  tagPrefix,
} from './wire.ts'

/**
 * A call costs several times what an announce in it does, so a busy tracker sends calls at this pace and no faster. A
 * second one may be under way while Redis works on the first. Redis blocks during a call, hence the bound of its size.
 */
const CALLS: BatcherOptions = { concurrency: 2, maxBatchSize: 64, lingerMs: 2, isReady: (waiting) => waiting >= 16 }
/** A browser waits seconds for WebRTC, so announces over sockets can wait a little for others. */
const SOCKET_CALLS: BatcherOptions = { ...CALLS, lingerMs: 4, isReady: (waiting) => waiting >= 64 }
/** Records that one call of the sweep looks at. */
const SWEEP_STEPS = 2_000
/** Sockets that one call ends. */
const EVICT_STEPS = 200

type EncodedAnnounce = { readonly key: Buffer; readonly bytes: Buffer }
type Counted = { readonly name: SwarmName; readonly completed: number }

/**
 * Swarms in Redis, shared by every process of the tracker. Announces that arrive at about the same time share a call;
 * each is still one atomic step.
 *
 * @param options `random` gives numbers from 0 to 1
 */
export function createRedisSwarms(options: {
  redis: Redis | Cluster
  clock: Clock
  settings: SwarmSettings
  random: () => number
}): Swarms {
  const { redis, clock, settings } = options
  const functions = createRedisFunctions(redis, 'swarm')
  const settingsNow = (): Buffer => encodeSettings(settings, Math.floor(clock.now() / 1000))

  const announce = async (batch: readonly EncodedAnnounce[]): Promise<readonly Buffer[]> => {
    const keys = batch.map(({ key }) => key)
    const announces = Buffer.concat(batch.map(({ bytes }) => bytes))
    const answers = await functions.call('announce', keys, [settingsNow(), announces])
    if (!Buffer.isBuffer(answers)) throw unknownForm()
    return splitAnswers(answers, batch.length)
  }
  const count = async (swarms: readonly Counted[]): Promise<readonly SwarmCounts[]> => {
    const keys = swarms.map((swarm) => swarmKey(swarm.name))
    const completed = swarms.map((swarm) => String(swarm.completed))
    const results = await functions.call('scrape', keys, [settingsNow(), ...completed])
    return buffersOf(results, swarms.length).map(decodeCounts)
  }
  const perTag = redis instanceof Cluster
  const announceBatched = forTags(perTag, () => createBatcher(announce, CALLS))
  const announceOverSocketBatched = forTags(perTag, () => createBatcher(announce, SOCKET_CALLS))
  const countBatched = forTags(perTag, () => createBatcher(count, CALLS))

  return {
    announce: (peer) => {
      const random = Math.floor(options.random() * 0x1_0000_0000)
      const bytes = encodeAnnounce(peer, settings.evictsOldest, random)
      return announceBatched(peer.swarm)({ key: swarmKey(peer.swarm), bytes }).then(decodeAnswer)
    },

    announceOverSocket: (peer, socket) => {
      const bytes = encodeAnnounce(peer, settings.evictsOldest, 0, socket)
      return announceOverSocketBatched(peer.swarm)({ key: swarmKey(peer.swarm), bytes }).then(decodeSocketAnswer)
    },

    evict: async (process) => {
      for (let tag = 0; tag < TAGS; tag++) {
        const key = Buffer.concat([Buffer.from(`${tagPrefix(tag)}m:`), process])
        let more: unknown = 1
        while (more === 1) more = await functions.call('evict', [key], [settingsNow(), process, String(EVICT_STEPS)])
      }
    },

    count: (swarms) => Promise.all(swarms.map((swarm) => countBatched(swarm.name)(swarm))),

    sweep: async () => {
      for (let tag = 0; tag < TAGS; tag++) {
        let more: unknown = 1
        while (more === 1)
          more = await functions.call('sweep', [`${tagPrefix(tag)}x`], [settingsNow(), String(SWEEP_STEPS)])
      }
    },
  }
}

/** A call to a Cluster may have keys of one slot, and so of one tag: there each tag has a batcher of its own. */
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

function buffersOf(reply: unknown, length: number): Buffer[] {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every((item) => Buffer.isBuffer(item)))
    throw unknownForm()
  return reply
}

function unknownForm(): Error {
  return new UnavailableError('redis', { cause: new Error('a swarm answer has an unknown form') })
}
