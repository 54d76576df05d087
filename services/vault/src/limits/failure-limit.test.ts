import { beforeEach, expect, test } from '@jest/globals'
import { apiError } from '../errors.ts'
import { createFailureLimit } from './failure-limit.ts'

const clock = { time: 0, now: () => clock.time }
const uncounted = () => Promise.resolve()
const blocked: string[] = []
const onBlocked = (address: string) => void blocked.push(address)
const limitOf = (limit: number) => createFailureLimit({ limit, windowMs: 60_000, clock, onBlocked })

beforeEach(() => {
  blocked.length = 0
})

test('the failure after the last allowed one blocks the address until its window ends, and no other', async () => {
  const failures = limitOf(2)
  await failures.count('a', uncounted)
  await failures.count('a', uncounted)
  failures.assertAllowed('a')
  expect(failures.retryAfter('a')).toBe(0)
  clock.time += 10_000
  await expect(failures.count('a', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
  await expect(failures.count('a', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(blocked).toEqual(['a'])
  expect(failures.retryAfter('a')).toBe(50)
  failures.assertAllowed('b')
  clock.time += 50_000
  failures.assertAllowed('a')
})

test('when the other replicas have seen too many, the address is blocked here as well', async () => {
  const failures = limitOf(100)
  const others = () => Promise.reject(apiError('rate_limited'))
  await expect(failures.count('a', others)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
  expect(blocked).toEqual(['a'])
})

test('while the shared count fails, its failure is passed on and the own count goes on', async () => {
  const failures = limitOf(2)
  const unavailable = () => Promise.reject(new Error('Connection is closed.'))
  for (let i = 0; i < 2; i++) await expect(failures.count('a', unavailable)).rejects.toThrow('Connection is closed.')
  await expect(failures.count('a', unavailable)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
})

test('a limit of 0 is none', async () => {
  const failures = limitOf(0)
  for (let i = 0; i < 1_000; i++) await failures.count('a', () => Promise.reject(new Error('not asked')))
  failures.assertAllowed('a')
})

test('a hundred thousand addresses do not fill the memory', async () => {
  const failures = limitOf(1)
  for (let i = 0; i < 100_000; i++) await failures.count(`address ${i}`, uncounted)
  await expect(failures.count('address 99999', uncounted)).rejects.toMatchObject({ code: 'rate_limited' })
  await failures.count('address 0', uncounted)
})

test('a client has failed until a window that began during its own has ended', async () => {
  const failures = limitOf(2)
  expect(failures.hasFailed('a')).toBe(false)
  await failures.count('a', uncounted)
  clock.time += 119_999
  expect(failures.hasFailed('a')).toBe(true)
  clock.time += 1
  expect(failures.hasFailed('a')).toBe(false)
})
