import { Cluster, type Redis } from 'ioredis'
import type { Clock } from 'service-kit/clock'
import { UnavailableError } from 'service-kit/errors'
import { announceRecord, termsRecord } from './announce-record.ts'
import { readAnswer, readCounts } from './announce-result.ts'
import { createRedisFunctions } from './redis-functions.store.ts'
import type { PeerAnnounce, SwarmAnswer, SwarmName, Swarms, SwarmTerms } from './swarm.ts'

/** Announces in one call; Redis serves nobody else meanwhile. */
const BATCH = 64
/** Records that one call of the sweep looks at. */
const SWEEP_STEPS = 2_000
const TAGS = 256

type Waiting = {
  readonly key: Buffer
  readonly record: Buffer
  readonly resolve: (answer: SwarmAnswer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Swarms in Redis, shared by every process of the tracker. Announces that arrive in the same turn of the event loop
 * travel together; each is still one atomic step.
 *
 * @param options `random` gives numbers from 0 to 1
 */
export function createRedisSwarms(options: {
  redis: Redis | Cluster
  clock: Clock
  terms: SwarmTerms
  random: () => number
}): Swarms {
  const { redis, clock, terms } = options
  const functions = createRedisFunctions(redis, 'swarm')
  const clustered = redis instanceof Cluster
  const waiting: Waiting[] = []
  // One round trip at a time: what arrives meanwhile goes with the next, so that a call carries more the busier the
  // tracker is. A call costs several times what an announce in it does.
  let busy = false

  const now = (): Buffer => termsRecord(terms, Math.floor(clock.now() / 1000))

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const records = Buffer.concat(batch.map((announce) => announce.record))
      const keys = batch.map((announce) => announce.key)
      const results = await functions.call('announce', keys, [now(), records])
      if (!Buffer.isBuffer(results)) throw unknownForm()
      let at = 0
      for (const announce of batch) {
        const length = results.readUInt32BE(at)
        announce.resolve(readAnswer(results.subarray(at + 4, at + 4 + length)))
        at += 4 + length
      }
    } catch (error) {
      for (const announce of batch) announce.reject(error)
      if (error instanceof UnavailableError) for (const announce of waiting.splice(0)) announce.reject(error)
    }
  }
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const announces = waiting.splice(0)
      // A Cluster takes one slot, and so one tag, in a call.
      const groups = clustered ? byTag(announces) : [announces]
      await Promise.all(groups.flatMap(chunksOf).map(send))
    }
    busy = false
  }

  return {
    announce: (announce: PeerAnnounce) =>
      new Promise((resolve, reject) => {
        const random = Math.floor(options.random() * 0x1_0000_0000)
        waiting.push({
          key: swarmKey(announce.swarm),
          record: announceRecord(announce, terms.evicts, random),
          resolve,
          reject,
        })
        if (busy) return
        busy = true
        setImmediate(() => void flush())
      }),

    count: async (swarms) => {
      const count = async (group: typeof swarms): Promise<Buffer[]> => {
        const keys = group.map((swarm) => swarmKey(swarm.name))
        const completed = group.map((swarm) => String(swarm.completed))
        return buffersOf(await functions.call('scrape', keys, [now(), ...completed]), group.length)
      }
      if (swarms.length === 0) return []
      const results = clustered
        ? (await Promise.all(swarms.map((swarm) => count([swarm])))).flat()
        : await count(swarms)
      return results.map(readCounts)
    },

    sweep: async () => {
      for (let tag = 0; tag < TAGS; tag++) {
        let more: unknown = 1
        while (more === 1) more = await functions.call('sweep', [`{${hexByte(tag)}}:x`], [now(), String(SWEEP_STEPS)])
      }
    },
  }
}

/** The tag is the first byte: a torrent's keys share a Cluster slot, and so do 1/256 of all torrents. */
function swarmKey(name: SwarmName): Buffer {
  const key = Buffer.allocUnsafe(27)
  key.write(`{${hexByte(name[0] ?? 0)}}:h:`, 0, 'latin1')
  name.copy(key, 7)
  return key
}

function chunksOf(announces: readonly Waiting[]): Waiting[][] {
  const chunks: Waiting[][] = []
  for (let i = 0; i < announces.length; i += BATCH) chunks.push(announces.slice(i, i + BATCH))
  return chunks
}

function hexByte(value: number): string {
  return value.toString(16).padStart(2, '0')
}

function byTag(announces: readonly Waiting[]): Waiting[][] {
  const groups = new Map<number, Waiting[]>()
  for (const announce of announces) {
    const tag = announce.key.readUInt16BE(1)
    const group = groups.get(tag)
    if (group) group.push(announce)
    else groups.set(tag, [announce])
  }
  return [...groups.values()]
}

function buffersOf(reply: unknown, length: number): Buffer[] {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every((item) => Buffer.isBuffer(item)))
    throw unknownForm()
  return reply
}

function unknownForm(): Error {
  return new UnavailableError('redis', { cause: new Error('the swarm answered in an unknown form') })
}
