import { beforeEach, expect, test } from '@jest/globals'
import type { Registration } from '../projects/projects.ts'
import { createRegistrations, type Registrations } from './registrations.ts'

const clock = { time: 1_000, now: () => clock.time }
const registration = (name: string): Registration => ({
  uid: `uid of ${name}`,
  name,
  requireContentDigest: false,
  keys: [],
})

let stored: Set<string>
let reads: string[]
let hold: Promise<void>
let registrations: Registrations

beforeEach(() => {
  stored = new Set(['shop'])
  reads = []
  hold = Promise.resolve()
  registrations = createRegistrations({
    clock,
    read: async (name) => {
      reads.push(name)
      const found = stored.has(name)
      await hold
      return found ? registration(name) : undefined
    },
  })
})

test('a known project is read once a minute, an unknown one once a second', async () => {
  for (let i = 0; i < 3; i++) expect(await registrations.find('shop', false)).toEqual(registration('shop'))
  for (let i = 0; i < 3; i++) expect(await registrations.find('blog', false)).toBeUndefined()
  expect(reads).toEqual(['shop', 'blog'])
  clock.time += 1_000
  await registrations.find('shop', false)
  await registrations.find('blog', false)
  expect(reads).toEqual(['shop', 'blog', 'blog'])
  clock.time += 59_000
  await registrations.find('shop', false)
  expect(reads).toEqual(['shop', 'blog', 'blog', 'shop'])
})

test('a fresh look is never answered from memory, and is remembered', async () => {
  expect(await registrations.find('blog', false)).toBeUndefined()
  stored.add('blog')
  expect(await registrations.find('blog', true)).toEqual(registration('blog'))
  expect(await registrations.find('blog', false)).toEqual(registration('blog'))
  expect(reads).toEqual(['blog', 'blog'])
})

test('simultaneous looks share one read', async () => {
  await Promise.all(Array.from({ length: 10 }, () => registrations.find('shop', false)))
  expect(reads).toEqual(['shop'])
})

test('a project that is created while it is being read is not remembered as unknown', async () => {
  let release = () => {}
  hold = new Promise((resolve) => (release = resolve))
  const early = registrations.find('blog', false)
  stored.add('blog')
  registrations.forget('blog')
  release()
  expect(await early).toBeUndefined()
  expect(await registrations.find('blog', false)).toEqual(registration('blog'))
})

test('a stranger who tries many names pushes no known project out', async () => {
  await registrations.find('shop', false)
  for (let i = 0; i < 11_000; i++) await registrations.find(`guess-${i}`, false)
  reads = []
  await registrations.find('shop', false)
  expect(reads).toEqual([])
})
