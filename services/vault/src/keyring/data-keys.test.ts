import { createSecretKey, type KeyObject } from 'node:crypto'
import { beforeEach, expect, test } from '@jest/globals'
import { createDataKeys, type DataKeys, type StoredDataKey } from './data-keys.ts'
import { createKeyring, type KeyProvider } from './keyring.ts'

const clock = { time: 1_000, now: () => clock.time }
const FIVE_MINUTES = 300_000

let unwrapped: string[]
let stored: Map<number, StoredDataKey>
let keys: DataKeys

/** A key service that does not encrypt. */
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

test('caches a prepared key by its exact bytes', async () => {
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

test('concurrent writes, and concurrent reads, share a request', async () => {
  const first = stored.get(1) as StoredDataKey
  await Promise.all(Array.from({ length: 20 }, () => keys.unwrap('shop', first)))
  await Promise.all(Array.from({ length: 20 }, () => Promise.resolve(keys.find('shop', 1))))
  expect(unwrapped).toHaveLength(1)
})

test('drops keys after their time to live', async () => {
  const first = stored.get(1) as StoredDataKey
  await keys.find('shop', 1)
  await keys.unwrap('shop', first)
  clock.time += FIVE_MINUTES
  keys.dropStale()
  clock.time -= FIVE_MINUTES
  // With the clock set back, only dropped keys are requested.
  await keys.unwrap('shop', first)
  await keys.find('shop', 1)
  expect(unwrapped).toEqual(['shop/1', 'shop/1'])
})

test('evicts the least recently used keys', async () => {
  const first = stored.get(1) as StoredDataKey
  for (let i = 0; i < 1_001; i++) await keys.unwrap(`project-${String(i)}`, first)
  unwrapped = []
  await keys.unwrap('project-1000', first)
  await keys.unwrap('project-0', first)
  expect(unwrapped).toEqual(['project-0/1'])
})
