import { beforeEach, expect, test } from '@jest/globals'
import type { SigningProject } from '../projects/projects.ts'
import { createSigningProjects, type SigningProjects } from './signed-requests.ts'

const clock = { time: 1_000, now: () => clock.time }
const signingProject = (name: string): SigningProject => ({
  uid: `uid of ${name}`,
  name,
  requireContentDigest: false,
  generation: 1,
  keys: [],
})

let stored: Set<string>
let reads: string[]
let hold: Promise<void>
let signingProjects: SigningProjects

beforeEach(() => {
  stored = new Set(['shop'])
  reads = []
  hold = Promise.resolve()
  signingProjects = createSigningProjects({
    clock,
    read: async (name) => {
      reads.push(name)
      const found = stored.has(name)
      await hold
      return found ? signingProject(name) : undefined
    },
  })
})

test('a known project is read once a minute, an unknown one once a second', async () => {
  for (let i = 0; i < 3; i++) expect(await signingProjects.find('shop', false)).toEqual(signingProject('shop'))
  for (let i = 0; i < 3; i++) expect(await signingProjects.find('blog', false)).toBeUndefined()
  expect(reads).toEqual(['shop', 'blog'])
  clock.time += 1_000
  await signingProjects.find('shop', false)
  await signingProjects.find('blog', false)
  expect(reads).toEqual(['shop', 'blog', 'blog'])
  clock.time += 59_000
  await signingProjects.find('shop', false)
  expect(reads).toEqual(['shop', 'blog', 'blog', 'shop'])
})

test('a fresh look is never answered from memory, and is remembered', async () => {
  expect(await signingProjects.find('blog', false)).toBeUndefined()
  stored.add('blog')
  expect(await signingProjects.find('blog', true)).toEqual(signingProject('blog'))
  expect(await signingProjects.find('blog', false)).toEqual(signingProject('blog'))
  expect(reads).toEqual(['blog', 'blog'])
})

test('simultaneous looks share one read', async () => {
  await Promise.all(Array.from({ length: 10 }, () => signingProjects.find('shop', false)))
  expect(reads).toEqual(['shop'])
})

test('a project that is created while it is being read is not remembered as unknown', async () => {
  let release = () => {}
  hold = new Promise((resolve) => (release = resolve))
  const early = signingProjects.find('blog', false)
  stored.add('blog')
  signingProjects.forget('blog')
  release()
  expect(await early).toBeUndefined()
  expect(await signingProjects.find('blog', false)).toEqual(signingProject('blog'))
})

test('an unauthenticated client that tries many names pushes no known project out', async () => {
  await signingProjects.find('shop', false)
  for (let i = 0; i < 11_000; i++) await signingProjects.find(`guess-${i}`, false)
  reads = []
  await signingProjects.find('shop', false)
  expect(reads).toEqual([])
})
