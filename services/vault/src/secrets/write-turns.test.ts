import { expect, test } from '@jest/globals'
import { createWriteTurns } from './write-turns.ts'

const never = () => new Promise<never>(() => undefined)

test('writes of one project run one after another, also after a failure, and those of others beside them', async () => {
  const inTurn = createWriteTurns()
  const events: string[] = []
  const write = (owner: string, name: string) =>
    inTurn(owner, async () => {
      events.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      events.push(`${name} ends`)
      if (name === 'a1') throw new Error('fails')
    })
  await Promise.allSettled([write('a', 'a1'), write('a', 'a2'), write('b', 'b1')])
  expect(events.indexOf('a2 begins')).toBeGreaterThan(events.indexOf('a1 ends'))
  expect(events.indexOf('b1 begins')).toBeLessThan(events.indexOf('a1 ends'))
})

test('a project that has too many writes waiting is refused, and only that project', async () => {
  const inTurn = createWriteTurns()
  for (let i = 0; i < 100; i++) void inTurn('a', never)
  await expect(inTurn('a', never)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(inTurn('b', () => Promise.resolve('written'))).resolves.toBe('written')
})

test('so many writes wait in total, and a place is given back whenever one ends', async () => {
  const inTurn = createWriteTurns()
  const ends: (() => void)[] = []
  const held = Array.from({ length: 1_000 }, (_, i) =>
    inTurn(`project ${String(i)}`, () => new Promise<void>((resolve) => ends.push(resolve))),
  )
  await expect(inTurn('another', never)).rejects.toMatchObject({ code: 'unavailable' })
  for (const end of ends) end()
  await Promise.all(held)
  await expect(inTurn('another', () => Promise.resolve('written'))).resolves.toBe('written')
})
