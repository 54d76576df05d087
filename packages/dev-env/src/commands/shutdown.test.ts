import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { Ended } from '../processes/managed-process.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'

type Seen = { said: string[]; codes: number[]; killed: number }

function shutdownOf(stop: () => Promise<Ended[]>): { shutdown: Shutdown; seen: Seen } {
  const seen: Seen = { said: [], codes: [], killed: 0 }
  const shutdown = createShutdown({
    stop,
    kill: () => {
      seen.killed += 1
      return Promise.resolve()
    },
    say: (text) => void seen.said.push(text),
    exit: (code) => void seen.codes.push(code),
  })
  return { shutdown, seen }
}

test('a regular stop is a success, a forced one is not', async () => {
  const clean = shutdownOf(() => Promise.resolve([{ name: 'vault', code: 0, signal: null }]))
  await clean.shutdown.interrupt('SIGINT')
  expect(clean.seen.codes).toEqual([0])
  const forced = shutdownOf(() => Promise.resolve([{ name: 'vault', code: null, signal: 'SIGKILL' }]))
  await forced.shutdown.interrupt('SIGINT')
  expect(forced.seen.codes).toEqual([1])
})

test("the signal that npm repeats is not the user's second one", async () => {
  let stopped = (): void => undefined
  const { shutdown, seen } = shutdownOf(() => new Promise((resolve) => (stopped = () => resolve([]))))
  const first = shutdown.interrupt('SIGINT')
  await shutdown.interrupt('SIGINT')
  expect(seen.killed).toBe(0)
  await sleep(900)
  await shutdown.interrupt('SIGINT')
  expect(seen.killed).toBe(1)
  expect(seen.codes[0]).toBe(130)
  stopped()
  await first
})
