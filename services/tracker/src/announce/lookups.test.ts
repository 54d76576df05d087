import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { compileRules } from '../clients/client-rules.ts'
import { createLookups, type LookupStore } from './lookups.ts'

const EMPTY: LookupStore = {
  users: () => Promise.resolve(new Map()),
  torrents: () => Promise.resolve(new Map()),
  site: () => Promise.resolve({ uploadPercent: 100, downloadPercent: 100, clients: compileRules([]) }),
}

/** Heap size after garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('no garbage collection')
  Reflect.apply(collect, undefined, [])
  return process.memoryUsage().heapUsed
}

test('a cached passkey does not keep the URL it came in', async () => {
  const lookups = createLookups({ store: EMPTY, clock: { now: () => 0 } })
  const before = heapUsed()
  const found = Array.from({ length: 2_000 }, async (_, i) => {
    // From bytes, as the HTTP parser makes it: one piece, of which the passkey is cut out.
    const url = Buffer.from(`/announce?passkey=${i.toString(16).padStart(40, '0')}&x=${'a'.repeat(40_000)}`)
    const target = parseTrackerTarget(url.toString('latin1'))
    if (target?.ok !== true || target.passkey === undefined) throw new Error('not an announce')
    return lookups.user(target.passkey)
  })
  await Promise.all(found)
  // The URLs have 80 MB. The limit allows for other work of the process.
  expect(heapUsed() - before).toBeLessThan(20_000_000)
  expect(lookups.site()).toBeInstanceOf(Promise)
})

test('reads that overlap missed changes are not cached', async () => {
  const reads: (() => void)[] = []
  const store: LookupStore = {
    ...EMPTY,
    users: () => new Promise((resolve) => reads.push(() => resolve(new Map()))),
  }
  const lookups = createLookups({ store, clock: { now: () => 0 } })
  const target = parseTrackerTarget(`/announce?passkey=${'a'.repeat(40)}`)
  if (target?.ok !== true || target.passkey === undefined) throw new Error('not an announce')
  const first = lookups.user(target.passkey)
  await new Promise((resolve) => setImmediate(resolve))
  lookups.revalidateAll()
  reads[0]?.()
  await first
  expect(lookups.user(target.passkey)).toBeInstanceOf(Promise)
})
