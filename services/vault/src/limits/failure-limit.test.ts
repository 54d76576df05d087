import { beforeEach, expect, test } from '@jest/globals'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import { createFailureLimit } from './failure-limit.guard.ts'

const clock = { time: 0, now: () => clock.time }
const request = {} as Request
const response = {} as Response
const blocked: string[] = []
const onBlocked = (address: string) => void blocked.push(address)

/** `countShared` is the count of all replicas. */
function limitOf(limit: number, countShared = () => Promise.resolve()) {
  const failures = createFailureLimit({ limit, windowMs: 60_000, clock, countShared, onBlocked })
  return { ...failures, fail: (client: string) => failures.count(client, request, response) }
}

beforeEach(() => {
  blocked.length = 0
})

test('blocks an address after its last allowed failure until the window ends', async () => {
  const failures = limitOf(2)
  await failures.fail('a')
  await failures.fail('a')
  failures.assertAllowed('a')
  expect(failures.retryAfter('a')).toBe(0)
  clock.time += 10_000
  await expect(failures.fail('a')).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
  await expect(failures.fail('a')).rejects.toMatchObject({ code: 'rate_limited' })
  expect(blocked).toEqual(['a'])
  expect(failures.retryAfter('a')).toBe(50)
  failures.assertAllowed('b')
  clock.time += 50_000
  failures.assertAllowed('a')
})

test('blocks an address that failed too often at all replicas together', async () => {
  const failures = limitOf(100, () => Promise.reject(apiError('rate_limited')))
  await expect(failures.fail('a')).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
  expect(blocked).toEqual(['a'])
})

test('enforces the limit while failures cannot be counted in Redis', async () => {
  const failures = limitOf(2, () => Promise.reject(new Error('Connection is closed.')))
  for (let i = 0; i < 2; i++) await expect(failures.fail('a')).rejects.toThrow('Connection is closed.')
  await expect(failures.fail('a')).rejects.toMatchObject({ code: 'rate_limited' })
  expect(() => failures.assertAllowed('a')).toThrow()
})

test('a limit of 0 disables it', async () => {
  const failures = limitOf(0, () => Promise.reject(new Error('not counted')))
  for (let i = 0; i < 1_000; i++) await failures.fail('a')
  failures.assertAllowed('a')
})

test('forgets the least recent of 100,000 addresses', async () => {
  const failures = limitOf(1)
  for (let i = 0; i < 100_000; i++) await failures.fail(`address ${i}`)
  await expect(failures.fail('address 99999')).rejects.toMatchObject({ code: 'rate_limited' })
  await failures.fail('address 0')
})

test('remembers a failure until any window that began during its own has ended', async () => {
  const failures = limitOf(2)
  expect(failures.hasFailed('a')).toBe(false)
  await failures.fail('a')
  clock.time += 119_999
  expect(failures.hasFailed('a')).toBe(true)
  clock.time += 1
  expect(failures.hasFailed('a')).toBe(false)
})
