import { expect, test } from '@jest/globals'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import { type AddressStore, createAddresses, MAX_PER_USER, type SeenAddress } from './addresses.ts'

const HOUR_MS = 3_600_000

/** A recorder whose writes are kept. */
function recorder(options: { keepDays?: number; add?: AddressStore['add'] } = {}) {
  const written: (readonly SeenAddress[])[] = []
  const errors: unknown[] = []
  let now = Date.UTC(2026, 0, 1)
  const addresses = createAddresses({
    store: {
      add: options.add ?? ((seen) => Promise.resolve(void written.push(seen))),
      prune: () => Promise.resolve(),
      list: () => Promise.reject(new Error('not used')),
    },
    clock: { now: () => now },
    keepDays: options.keepDays ?? 30,
    onError: (error) => errors.push(error),
  })
  const flushed = async (isLast?: boolean) => {
    written.length = 0
    await addresses.flush(isLast)
    return written.flat().map(({ userId, address, kind, requests }) => [userId, address, kind, requests])
  }
  return { addresses, record: addresses.record.ofText, flushed, written, errors, advance: (ms: number) => (now += ms) }
}

test('a new address is written at once, then counted and written once an hour', async () => {
  const { record, flushed, advance } = recorder()
  record('alice', 'announce', '192.0.2.1')
  expect(await flushed()).toEqual([['alice', '192.0.2.1', 'announce', 1]])
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) record('alice', 'announce', address)
  record('alice', 'web', '192.0.2.1')
  expect(await flushed()).toEqual([
    ['alice', '192.0.2.2', 'announce', 1],
    ['alice', '192.0.2.1', 'web', 1],
  ])
  advance(HOUR_MS - 1)
  expect(await flushed()).toEqual([])
  advance(1)
  expect(await flushed()).toEqual([['alice', '192.0.2.1', 'announce', 2]])
  advance(HOUR_MS)
  expect(await flushed()).toEqual([])
})

test('many users are written over several flushes, each of them once', async () => {
  const { record, flushed, advance } = recorder()
  for (let i = 0; i < 2_500; i += 1) record(`user-${i}`, 'announce', '192.0.2.1')
  expect(await flushed()).toHaveLength(2_500)
  for (let i = 0; i < 2_500; i += 1) record(`user-${i}`, 'announce', '192.0.2.1')
  advance(HOUR_MS)
  const rounds = [await flushed(), await flushed(), await flushed(), await flushed()]
  for (const round of rounds) expect(round.length).toBeLessThanOrEqual(1_000)
  expect(new Set(rounds.flat().map(([userId]) => userId)).size).toBe(2_500)
  expect(rounds.flat()).toHaveLength(2_500)
})

test('addresses of IPv6 are those of their /64', async () => {
  const { record, flushed } = recorder()
  for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::', '2001:db8:0:1::1', '::ffff:192.0.2.1', '::', '0.0.0.0'])
    record('alice', 'web', address)
  expect(await flushed()).toEqual([
    ['alice', '2001:db8:0:0::/64', 'web', 2],
    ['alice', '2001:db8:0:1::/64', 'web', 1],
    ['alice', '192.0.2.1', 'web', 1],
    ['alice', '0:0:0:0::/64', 'web', 1],
    ['alice', '0.0.0.0', 'web', 1],
  ])
})

test('a stopping process writes what it counted since the last write', async () => {
  const { record, flushed } = recorder()
  record('alice', 'web', '192.0.2.1')
  await flushed()
  record('alice', 'web', '192.0.2.1')
  expect(await flushed(true)).toEqual([['alice', '192.0.2.1', 'web', 1]])
})

test('a user has a bounded number of addresses an hour, and others are not affected', async () => {
  const { record, flushed, advance } = recorder()
  for (let i = 0; i < 2 * MAX_PER_USER; i += 1) record('restless', 'web', `192.0.${i >> 8}.${i & 255}`)
  record('alice', 'web', '192.0.2.1')
  expect(await flushed()).toHaveLength(MAX_PER_USER + 1)
  record('restless', 'web', '198.51.100.1')
  expect(await flushed()).toEqual([])
  advance(HOUR_MS)
  await flushed()
  record('restless', 'web', '198.51.100.1')
  expect(await flushed()).toEqual([['restless', '198.51.100.1', 'web', 1]])
})

test('requests are counted once while Postgres is unavailable, and a batch that cannot be written is dropped', async () => {
  let failure: Error | undefined = new UnavailableError('postgres')
  const written: SeenAddress[] = []
  const { addresses, record, errors } = recorder({
    add: (seen) => (failure ? Promise.reject(failure) : Promise.resolve(void written.push(...seen))),
  })
  record('alice', 'web', '192.0.2.1')
  await expect(addresses.flush()).rejects.toBe(failure)
  record('alice', 'web', '192.0.2.1')
  failure = undefined
  await Promise.all([addresses.flush(), addresses.flush()])
  expect(written).toMatchObject([{ requests: 2 }])
  failure = new Error('no such user')
  record('nobody', 'web', '192.0.2.1')
  await addresses.flush()
  expect(errors).toEqual([failure])
  failure = undefined
  await addresses.flush()
  expect(written).toHaveLength(1)
})

test('nothing is recorded if addresses are kept for no day', async () => {
  const { record, flushed } = recorder({ keepDays: 0 })
  record('alice', 'web', '192.0.2.1')
  expect(await flushed()).toEqual([])
})
