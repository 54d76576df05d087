import { createSecretKey, type KeyObject } from 'node:crypto'
import { beforeEach, expect, test } from '@jest/globals'
import { createDataKeys, type DataKeys, type StoredDataKey } from './data-keys.ts'
import { createKeyring, type KeyProvider } from './keyring.ts'

const clock = { time: 1_000, now: () => clock.time }
const FIVE_MINUTES = 300_000

let unwrapped: string[]
let stored: Map<number, StoredDataKey>
let keys: DataKeys

/** A service that is asked for each key; what it has wrapped is the key itself. */
const service: KeyProvider = {
  activeId: 'remote',
  keys: [{ id: 'remote', fingerprint: '00' }],
  isRemote: true,
  has: (id) => id === 'remote',
  wrap: (all) => Promise.resolve(all.map(({ key }) => key.export())),
  unwrap: (all) => {
    unwrapped.push(...all.map(({ owner }) => `${owner.owner}/${String(owner.version)}`))
    return Promise.resolve(all.map(({ wrapped }) => createSecretKey(wrapped)))
  },
  check: () => Promise.resolve(),
}

beforeEach(async () => {
  clock.time = 1_000
  unwrapped = []
  stored = new Map()
  keys = createDataKeys({
    keyring: createKeyring([service]),
    clock,
    store: {
      findDataKey: (_project, dekV) => Promise.resolve(stored.get(dekV)),
      findValue: () => Promise.resolve(undefined),
      replaceWrapped: () => Promise.resolve(),
      findNewestDataKey: () => Promise.resolve(stored.get(Math.max(...stored.keys()))),
    },
  })
  stored.set(1, await keys.create('shop', 1))
})

const bytesOf = (key: KeyObject | undefined) => key?.export().toString('hex')

test('a write finds the key that was prepared for it, and no other bytes of the same version', async () => {
  const first = stored.get(1) as StoredDataKey
  await keys.prepare('shop')
  expect(unwrapped).toEqual(['shop/1'])
  expect(bytesOf(await keys.unwrap('shop', first))).toBe(first.wrapped.toString('hex'))
  expect(unwrapped).toHaveLength(1)
  const changed = { ...first, wrapped: Buffer.alloc(32, 7) }
  expect(bytesOf(await keys.unwrap('shop', changed))).toBe(changed.wrapped.toString('hex'))
  await keys.unwrap('blog', first)
  expect(unwrapped).toEqual(['shop/1', 'shop/1', 'blog/1'])
})

test('writes and reads that come together ask the service once each', async () => {
  const first = stored.get(1) as StoredDataKey
  await Promise.all(Array.from({ length: 20 }, () => keys.unwrap('shop', first)))
  await Promise.all(Array.from({ length: 20 }, () => Promise.resolve(keys.find('shop', 1))))
  expect(unwrapped).toHaveLength(1)
})

test('a key is forgotten after its time, whether it is asked for or not', async () => {
  const first = stored.get(1) as StoredDataKey
  await keys.find('shop', 1)
  await keys.unwrap('shop', first)
  clock.time += FIVE_MINUTES
  keys.dropStale()
  clock.time -= FIVE_MINUTES
  // With the clock put back, only what is not in memory any more is asked for.
  await keys.unwrap('shop', first)
  await keys.find('shop', 1)
  expect(unwrapped).toEqual(['shop/1', 'shop/1'])
})

test('of more keys than have room, those that were used longest ago are forgotten', async () => {
  const first = stored.get(1) as StoredDataKey
  for (let i = 0; i < 1_001; i++) await keys.unwrap(`project-${String(i)}`, first)
  unwrapped = []
  await keys.unwrap('project-1000', first)
  await keys.unwrap('project-0', first)
  expect(unwrapped).toEqual(['project-0/1'])
})
