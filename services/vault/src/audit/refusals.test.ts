import { beforeEach, expect, test } from '@jest/globals'
import type { EntryOfProject } from './audit.ts'
import { createRefusals, type Refusals } from './refusals.ts'

const clock = { time: 0, now: () => clock.time }
let written: EntryOfProject[][]
let fail: boolean
let refusals: Refusals

beforeEach(() => {
  clock.time = Date.UTC(2026, 10, 22, 12, 0, 10)
  written = []
  fail = false
  refusals = createRefusals({
    clock,
    addressKey: (address) => address,
    isRefusedValue: () => false,
    onDropped: () => undefined,
    store: {
      append: (entries) => {
        if (fail) return Promise.reject(new Error('no database'))
        written.push([...entries])
        return Promise.resolve()
      },
    },
  })
})

const note = (address: string, code = 'invalid_signature', actor = 'unknown') =>
  refusals.note({ address, actor, projectId: '', code })
const entries = () => written.flat().map(({ entry: { address, actor, detail } }) => ({ address, actor, ...detail }))

test('writes one entry per minute for each address, with counts by code, once the minute has ended', async () => {
  for (let i = 0; i < 5; i++) note('192.0.2.1')
  note('192.0.2.1', 'replayed_nonce')
  note('192.0.2.2')
  note('192.0.2.1', 'forbidden', 'key:00')
  await refusals.writeEnded()
  expect(written).toEqual([])
  clock.time += 60_000
  note('192.0.2.1')
  await refusals.writeEnded()
  await refusals.writeEnded()
  const since = '2026-11-22T12:00:10.000Z'
  expect(entries()).toEqual([
    { address: '192.0.2.1', actor: 'unknown', since, invalid_signature: 5, replayed_nonce: 1 },
    { address: '192.0.2.2', actor: 'unknown', since, invalid_signature: 1 },
    { address: '192.0.2.1', actor: 'key:00', since, forbidden: 1 },
  ])
  await refusals.writeAll()
  expect(entries()).toHaveLength(4)
})

test('counts the addresses beyond the limit of a minute in one entry', async () => {
  for (let i = 0; i < 5_000; i++) note(`2001:db8:${i.toString(16)}::`)
  await refusals.writeAll()
  expect(entries()).toHaveLength(1_001)
  expect(entries().at(-1)).toMatchObject({ address: '0.0.0.0', invalid_signature: 4_000 })
})

test('writes failed entries later, up to a limit', async () => {
  note('192.0.2.1')
  clock.time += 60_000
  fail = true
  await expect(refusals.writeEnded()).rejects.toThrow('no database')
  for (let minute = 0; minute < 20; minute++, clock.time += 60_000)
    for (let i = 0; i < 1_000; i++) note(`2001:db8:${i.toString(16)}::`)
  await expect(refusals.writeEnded()).rejects.toThrow('no database')
  fail = false
  await refusals.writeAll()
  const all = entries()
  expect(all.length).toBeLessThanOrEqual(10_020)
  const count = all.reduce((sum, entry) => sum + Number((entry as { invalid_signature?: number }).invalid_signature), 0)
  expect(count).toBe(20_001)
})
