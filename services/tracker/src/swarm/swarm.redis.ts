import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { Cluster, type Redis } from 'ioredis'
import { createRedisFunctions, isOutOfMemory } from '../redis/functions.redis.ts'
import { decodeAnswer, decodeCounts, decodeSocketAnswer, type EncodedAnswer, splitAnswers } from './answer-wire.ts'
import { encodeSettings } from './settings-wire.ts'
import type { PeerAnnounce, SwarmCounts, SwarmName, SwarmSettings, Swarms } from './swarm.ts'
import { encodeAnnounce, swarmKey, TAGS, tagOf, tagPrefix } from './wire.ts'

/**
 * A call costs several times what an announce in it does, so a busy tracker sends calls at this pace and no faster. A
 * second one may be under way while Redis works on the first. Redis blocks during a call, hence the bound of its size.
 */
const CALLS: BatcherOptions = { concurrency: 2, maxBatchSize: 64, lingerMs: 2, isReady: (waiting) => waiting >= 16 }
/** A browser waits seconds for WebRTC, so announces over sockets can wait a little for others. */
const SOCKET_CALLS: BatcherOptions = { ...CALLS, lingerMs: 4, isReady: (waiting) => waiting >= 64 }
/** Records that one call of the sweep looks at. */
const SWEEP_STEPS = 2_000
/** Swarms that one call takes an owner out of. */
const EXPEL_SWARMS = 100
/** Sockets that one call ends. */
const EVICT_STEPS = 200

type EncodedAnnounce = { readonly key: Buffer; readonly bytes: Buffer }
type Counted = { readonly name: SwarmName; readonly completed: number }

/**
 * Swarms in Redis, shared by every process of the tracker. Announces that arrive at about the same time share a call;
 * each is still one atomic step.
 *
 * @param options `random` gives numbers from 0 to 1; the time is that of Redis, which all processes share, unless there
 *   is a `clock`, as in tests
 */
export function createRedisSwarms(options: {
  redis: Redis | Cluster
  clock: Clock | undefined
  settings: SwarmSettings
  random: () => number
}): Swarms {
  const { redis, clock, settings } = options
  const functions = createRedisFunctions(redis, 'swarm')
  const settingsNow = (): Buffer => encodeSettings(settings, Math.floor((clock?.now() ?? 0) / 1000))

  const announceBy =
    (name: 'announce' | 'stop') =>
    async (batch: readonly EncodedAnnounce[]): Promise<readonly EncodedAnswer[]> => {
      const keys = batch.map(({ key }) => key)
      const announces = Buffer.concat(batch.map(({ bytes }) => bytes))
      const reply = await functions.call(name, keys, [settingsNow(), announces])
      return splitAnswers(buffersOf(reply), batch.length)
    }
  const announce = announceBy('announce')
  const count = async (swarms: readonly Counted[]): Promise<readonly SwarmCounts[]> => {
    const keys = swarms.map((swarm) => swarmKey(swarm.name))
    const completed = swarms.map((swarm) => String(swarm.completed))
    const results = await functions.call('scrape', keys, [settingsNow(), ...completed])
    const counts = buffersOf(results)
    if (counts.length !== swarms.length) throw unknownForm()
    return counts.map(decodeCounts)
  }
  const perTag = redis instanceof Cluster
  const announceBatched = forTags(perTag, () => createBatcher(announce, CALLS))
  const announceOverSocketBatched = forTags(perTag, () => createBatcher(announce, SOCKET_CALLS))
  const stopBatched = forTags(perTag, () => createBatcher(announceBy('stop'), CALLS))
  const countBatched = forTags(perTag, () => createBatcher(count, CALLS))

  /** A stop is carried out by a Redis that is full too, since it frees memory. */
  const carriedOut = (
    announced: Promise<EncodedAnswer>,
    peer: PeerAnnounce,
    encoded: EncodedAnnounce,
  ): Promise<EncodedAnswer> =>
    peer.state !== 'stopped'
      ? announced
      : announced.catch((error: unknown) => {
          if (!isOutOfMemory(error)) throw error
          return stopBatched(peer.swarm)(encoded)
        })

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

  /** Removes expired peers that are alone in their swarm. */
  const sweepLone = async (tag: number): Promise<void> => {
    let cursor: Buffer | string = '0'
    do {
      const reply = await functions.call('sweep_lone', [`${tagPrefix(tag)}o`], [settingsNow(), cursor])
      if (!Buffer.isBuffer(reply)) throw unknownForm()
      cursor = reply
    } while (cursor.toString() !== '0')
  }

  return {
    announce: (peer) => {
      const random = Math.floor(options.random() * 0x1_0000_0000)
      const encoded = { key: swarmKey(peer.swarm), bytes: encodeAnnounce(peer, settings.evictsOldest, random) }
      return carriedOut(announceBatched(peer.swarm)(encoded), peer, encoded).then(decodeAnswer)
    },

    announceOverSocket: (peer, socket) => {
      const encoded = { key: swarmKey(peer.swarm), bytes: encodeAnnounce(peer, settings.evictsOldest, 0, socket) }
      return carriedOut(announceOverSocketBatched(peer.swarm)(encoded), peer, encoded).then(decodeSocketAnswer)
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
      let relieved = 0
      for (let tag = 0; tag < TAGS; tag++) {
        const keys = [`${tagPrefix(tag)}x`]
        let more: unknown = 1
        while (more === 1) more = await functions.call('sweep', keys, [settingsNow(), String(SWEEP_STEPS)])
        await sweepLone(tag)
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

function buffersOf(reply: unknown): Buffer[] {
  if (!Array.isArray(reply) || !reply.every((item) => Buffer.isBuffer(item))) throw unknownForm()
  return reply
}

function unknownForm(): Error {
  return new UnavailableError('redis', { cause: new Error('a swarm answer has an unknown form') })
}
