import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { Cluster, type Redis } from 'ioredis'
import { announceRecord, termsRecord } from './announce-record.ts'
import { readAnswer, readCounts } from './announce-result.ts'
import { createRedisFunctions } from './redis-functions.store.ts'
import type { SwarmAnswer, SwarmCounts, SwarmName, Swarms, SwarmTerms } from './swarm.ts'
import { TAGS, tagOf, tagPrefix } from './tags.ts'

/**
 * A call costs several times what an announce in it does, so a busy tracker sends calls at this pace and no faster. A
 * second one may be under way while Redis works on the first. Redis serves nobody else during a call, hence the bound.
 */
const CALLS: BatcherOptions = { concurrency: 2, maxBatchSize: 64, lingerMs: 2, isReady: (waiting) => waiting >= 16 }
/** Records that one call of the sweep looks at. */
const SWEEP_STEPS = 2_000

type Sent = { readonly key: Buffer; readonly record: Buffer }
type Counted = { readonly name: SwarmName; readonly completed: number }

/**
 * Swarms in Redis, shared by every process of the tracker. Announces that arrive at about the same time travel together;
 * each is still one atomic step.
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
  const now = (): Buffer => termsRecord(terms, Math.floor(clock.now() / 1000))

  const send = async (batch: readonly Sent[]): Promise<readonly SwarmAnswer[]> => {
    const records = Buffer.concat(batch.map((announce) => announce.record))
    const keys = batch.map((announce) => announce.key)
    const results = await functions.call('announce', keys, [now(), records])
    if (!Buffer.isBuffer(results)) throw unknownForm()
    let at = 0
    return batch.map(() => {
      const from = at + 4
      at = from + results.readUInt32BE(at)
      return readAnswer(results.subarray(from, at))
    })
  }
  const count = async (swarms: readonly Counted[]): Promise<readonly SwarmCounts[]> => {
    const keys = swarms.map((swarm) => swarmKey(swarm.name))
    const completed = swarms.map((swarm) => String(swarm.completed))
    const results = await functions.call('scrape', keys, [now(), ...completed])
    return buffersOf(results, swarms.length).map(readCounts)
  }
  const perTag = redis instanceof Cluster
  const sendTogether = forTags(perTag, () => createBatcher(send, CALLS))
  const countTogether = forTags(perTag, () => createBatcher(count, CALLS))

  return {
    announce: (announce) => {
      const random = Math.floor(options.random() * 0x1_0000_0000)
      const record = announceRecord(announce, terms.evicts, random)
      return sendTogether(announce.swarm)({ key: swarmKey(announce.swarm), record })
    },

    count: (swarms) => Promise.all(swarms.map((swarm) => countTogether(swarm.name)(swarm))),

    sweep: async () => {
      for (let tag = 0; tag < TAGS; tag++) {
        let more: unknown = 1
        while (more === 1) more = await functions.call('sweep', [`${tagPrefix(tag)}x`], [now(), String(SWEEP_STEPS)])
      }
    },
  }
}

function swarmKey(name: SwarmName): Buffer {
  const key = Buffer.allocUnsafe(27)
  key.write(`${tagPrefix(tagOf(name))}h:`, 0, 'latin1')
  name.copy(key, 7)
  return key
}

/** A Cluster takes one slot, and so one tag, in a call: there each tag has a sender of its own. */
function forTags<Sender>(perTag: boolean, create: () => Sender): (name: SwarmName) => Sender {
  if (!perTag) {
    const only = create()
    return () => only
  }
  const senders = new Map<number, Sender>()
  return (name) => {
    const tag = tagOf(name)
    let sender = senders.get(tag)
    if (sender === undefined) senders.set(tag, (sender = create()))
    return sender
  }
}

function buffersOf(reply: unknown, length: number): Buffer[] {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every((item) => Buffer.isBuffer(item)))
    throw unknownForm()
  return reply
}

function unknownForm(): Error {
  return new UnavailableError('redis', { cause: new Error('the swarm answered in an unknown form') })
}
