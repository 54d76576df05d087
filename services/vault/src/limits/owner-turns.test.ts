import { expect, test } from '@jest/globals'
import { createOwnerTurns } from './owner-turns.ts'
import { createWanted, type Wanted } from './wanted.ts'

const never = () => new Promise<never>(() => undefined)
const patient = (): Wanted => ({ signal: new AbortController().signal, assert: () => undefined })
const of = (owner: string, project: string, wanted = patient()) => ({ owner, project, wanted })
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Writes that run until `end`, with names in the order of their starts. */
function writes(inTurn = createOwnerTurns(8, 'busy')) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    write: (name: string, owner: string, project: string, wanted?: Wanted) =>
      inTurn(of(owner, project, wanted), () => {
        started.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }),
    end: async (name: string) => {
      ends.get(name)?.()
      await settled()
    },
  }
}

test('serialises the writes of an owner and of a project, even after a failure', async () => {
  const inTurn = createOwnerTurns(8, 'busy')
  const events: string[] = []
  const write = (owner: string, project: string, name: string) =>
    inTurn(of(owner, project), async () => {
      events.push(`${name} begins`)
      await settled()
      events.push(`${name} ends`)
      if (name === 'a1') throw new Error('fails')
    })
  await Promise.allSettled([write('a', '1', 'a1'), write('a', '2', 'a2'), write('b', '1', 'b1'), write('c', '3', 'c1')])
  expect(events.indexOf('a2 begins')).toBeGreaterThan(events.indexOf('a1 ends'))
  expect(events.indexOf('b1 begins')).toBeGreaterThan(events.indexOf('a1 ends'))
  expect(events.indexOf('c1 begins')).toBeLessThan(events.indexOf('a1 ends'))
})

test('owners take turns on a project', async () => {
  const { started, write, end } = writes()
  for (const name of ['a1', 'a2', 'a3']) void write(name, 'administrator', 'shop')
  void write('b1', 'other administrator', 'shop')
  void write('c1', 'project shop', 'shop')
  await settled()
  for (const name of ['a1', 'b1', 'c1', 'a2', 'a3']) await end(name)
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
})

test('limits concurrent writes', async () => {
  const { started, write, end } = writes(createOwnerTurns(2, 'busy'))
  for (const name of ['a', 'b', 'c']) void write(name, name, name)
  await settled()
  expect(started).toEqual(['a', 'b'])
  await end('b')
  expect(started).toEqual(['a', 'b', 'c'])
})

test('refuses an owner with too many waiting writes, but no other owner', async () => {
  const inTurn = createOwnerTurns(8, 'busy')
  for (let i = 0; i < 61; i++) void inTurn(of('a', 'a'), never)
  await expect(inTurn(of('a', 'a'), never)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(inTurn(of('b', 'b'), () => Promise.resolve('written'))).resolves.toBe('written')
})

test('limits waiting writes in total, and frees the place of a write that was given up', async () => {
  const inTurn = createOwnerTurns(1, 'busy')
  const { write, end } = writes(inTurn)
  const first = write('first', 'first', 'first')
  const clients: (() => void)[] = []
  const impatient = () => createWanted((gone) => void clients.push(gone))
  const held = Array.from({ length: 1_000 }, (_, i) => inTurn(of(String(i), String(i), impatient()), never))
  await expect(inTurn(of('another', 'another'), never)).rejects.toMatchObject({ code: 'unavailable' })
  for (const leave of clients) leave()
  const refused = await Promise.allSettled(held)
  expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(1_000)
  const another = inTurn(of('another', 'another'), () => Promise.resolve('written'))
  await end('first')
  expect([await first, await another]).toEqual(['first', 'written'])
})

test('a write that is given up does not run, or keeps its turn without committing', async () => {
  const { started, write, end } = writes()
  let giveUp = (): void => undefined
  const impatient = createWanted((gone) => (giveUp = gone))
  const given = ['a', 'b'].map((name) =>
    expect(write(name, 'shop', 'shop', impatient)).rejects.toMatchObject({ code: 'unavailable' }),
  )
  const later = write('c', 'shop', 'shop')
  await settled()
  giveUp()
  await Promise.all(given)
  expect(() => impatient.assert()).toThrow()
  expect(started).toEqual(['a'])
  await end('a')
  await end('c')
  expect(started).toEqual(['a', 'c'])
  expect(await later).toBe('c')
})

test('gives up a write after its time limit', async () => {
  const { started, write } = writes()
  void write('a', 'shop', 'shop')
  const late = createWanted(() => undefined, 1)
  await expect(write('b', 'shop', 'shop', late)).rejects.toMatchObject({ code: 'unavailable' })
  expect(() => late.assert()).toThrow()
  expect(started).toEqual(['a'])
})
