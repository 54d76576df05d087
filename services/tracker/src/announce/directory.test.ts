import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { parseTrackerTarget } from '@vault-and-tracker/bencode-tracker'
import { createDirectory, type DirectoryStore } from './directory.ts'

const NOBODY: DirectoryStore = {
  members: () => Promise.resolve(new Map()),
  listings: () => Promise.resolve(new Map()),
  sitePercents: () => Promise.resolve({ uploadPercent: 100, downloadPercent: 100 }),
}

/** Bytes on the heap once everything that can go has gone. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('there is no garbage collection to ask for')
  Reflect.apply(collect, undefined, [])
  return process.memoryUsage().heapUsed
}

test('a passkey that is remembered does not keep the address it came in', async () => {
  const directory = createDirectory({ store: NOBODY, clock: { now: () => 0 } })
  const before = heapUsed()
  const lookups = Array.from({ length: 2_000 }, async (_, i) => {
    // From bytes, as the HTTP parser makes it: one piece, of which the passkey is cut out.
    const url = Buffer.from(`/announce?passkey=${i.toString(16).padStart(40, '0')}&x=${'a'.repeat(8_000)}`)
    const target = parseTrackerTarget(url.toString('latin1'))
    if (target?.ok !== true || target.passkey === undefined) throw new Error('not an announce')
    return directory.member(target.passkey)
  })
  await Promise.all(lookups)
  expect(heapUsed() - before).toBeLessThan(4_000_000)
  expect(directory.site()).toBeInstanceOf(Promise)
})

test('what was being read when changes may have been missed is not remembered', async () => {
  const reads: (() => void)[] = []
  const store: DirectoryStore = {
    ...NOBODY,
    members: () => new Promise((resolve) => reads.push(() => resolve(new Map()))),
  }
  const directory = createDirectory({ store, clock: { now: () => 0 } })
  const target = parseTrackerTarget(`/announce?passkey=${'a'.repeat(40)}`)
  if (target?.ok !== true || target.passkey === undefined) throw new Error('not an announce')
  const first = directory.member(target.passkey)
  await new Promise((resolve) => setImmediate(resolve))
  directory.doubtEverything()
  reads[0]?.()
  await first
  expect(directory.member(target.passkey)).toBeInstanceOf(Promise)
})
