import { beforeEach, expect, test } from '@jest/globals'
import { apiError } from '../errors.ts'
import { createFailureCeiling } from './failure-ceiling.ts'

const clock = { time: 0, now: () => clock.time }
const uncounted = () => Promise.resolve()
const shut: string[] = []
const onShut = (address: string) => void shut.push(address)
const ceiling = (limit: number) => createFailureCeiling({ limit, windowMs: 60_000, clock, onShut })

beforeEach(() => {
  shut.length = 0
})

test('the failure after the last allowed one shuts the address out until its window ends, and no other', async () => {
  const door = ceiling(2)
  await door.count('a', uncounted)
  await door.count('a', uncounted)
  door.assertOpen('a')
  expect(door.retryAfter('a')).toBe(0)
  clock.time += 10_000
  await expect(door.count('a', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => door.assertOpen('a')).toThrow()
  await expect(door.count('a', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(shut).toEqual(['a'])
  expect(door.retryAfter('a')).toBe(50)
  door.assertOpen('b')
  clock.time += 50_000
  door.assertOpen('a')
})

test('when the other replicas have seen too many, the address is shut out here as well', async () => {
  const door = ceiling(100)
  const others = () => Promise.reject(apiError('rate_limited'))
  await expect(door.count('a', others)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => door.assertOpen('a')).toThrow()
  expect(shut).toEqual(['a'])
})

test('while the shared count fails, its failure is passed on and the own count goes on', async () => {
  const door = ceiling(2)
  const away = () => Promise.reject(new Error('Connection is closed.'))
  for (let i = 0; i < 2; i++) await expect(door.count('a', away)).rejects.toThrow('Connection is closed.')
  await expect(door.count('a', away)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => door.assertOpen('a')).toThrow()
})

test('a ceiling of 0 is none', async () => {
  const door = ceiling(0)
  for (let i = 0; i < 1_000; i++) await door.count('a', () => Promise.reject(new Error('not asked')))
  door.assertOpen('a')
})

test('a hundred thousand addresses do not fill the memory', async () => {
  const door = ceiling(1)
  for (let i = 0; i < 100_000; i++) await door.count(`address ${i}`, uncounted)
  await expect(door.count('address 99999', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  await door.count('address 0', uncounted)
})
