import { expect, test } from '@jest/globals'
import { outcomeOf } from './delivery-schedule.ts'

const now = new Date('2026-11-24T12:00:00.000Z')
const fresh = { createdAt: now, attempts: 1, failures: 0 }
/** The wait before the next attempt in seconds, without randomness. */
const waitOf = (...args: Parameters<typeof outcomeOf>) => {
  const outcome = outcomeOf(...args)
  return outcome.kind === 'failed' ? outcome.nextAt && (outcome.nextAt.getTime() - now.getTime()) / 1000 : undefined
}

test.each([200, 201, 204, 299])('a response of %d is a delivery', (status) => {
  expect(outcomeOf({ status }, fresh, now, 0.5)).toEqual({ kind: 'delivered' })
})

test.each([
  ['no response', { problem: 'timeout' }, true],
  ['500', { status: 500 }, true],
  ['503', { status: 503 }, true],
  ['429', { status: 429 }, true],
  ['408', { status: 408 }, true],
  ['a redirect', { status: 302 }, false],
  ['400', { status: 400 }, false],
  ['410', { status: 410 }, false],
])('after %s, other deliveries of the webhook wait too: %j %s', (_name, attempt, isReceiverDown) => {
  expect(outcomeOf(attempt, fresh, now, 0.5)).toMatchObject({ kind: 'failed', isReceiverDown })
})

test('waits longer after each failure of the receiver', () => {
  const waits = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((failures) =>
    waitOf({ problem: 'timeout' }, { ...fresh, failures }, now, 0.5),
  )
  expect(waits).toEqual([5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 14_400])
})

test('a refused delivery waits longer after each of its own attempts', () => {
  expect(waitOf({ status: 400 }, { ...fresh, attempts: 3, failures: 0 }, now, 0.5)).toBe(120)
})

test('spreads retries, and respects Retry-After up to an hour', () => {
  expect([0, 1].map((random) => waitOf({ status: 500 }, fresh, now, random))).toEqual([4.5, 5.5])
  expect(waitOf({ status: 503, retryAfterMs: 60_000 }, fresh, now, 0.5)).toBe(60)
  expect(waitOf({ status: 503, retryAfterMs: 86_400_000 }, fresh, now, 0.5)).toBe(3_600)
})

test('gives up after a day', () => {
  const old = { createdAt: new Date(now.getTime() - 22 * 3_600_000), attempts: 9, failures: 8 }
  expect(outcomeOf({ status: 500 }, old, now, 0.5)).toMatchObject({ kind: 'failed', nextAt: undefined })
})
