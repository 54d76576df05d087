import { beforeEach, expect, test } from '@jest/globals'
import type { SealedProject } from '../integrity/rows.ts'
import { createSigningProjects, type SigningProject, type SigningProjects } from './signing-projects.ts'

const clock = { time: 1_000, now: () => clock.time }
const signingProject = (name: string): SigningProject => ({
  uid: `uid of ${name}`,
  name,
  requireContentDigest: false,
  generation: 1,
  keys: new Map(),
})
const sealed = (name: string): SealedProject => ({
  ...signingProject(name),
  createdAt: new Date(),
  code: null,
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
    rows: { openProject: (project) => ({ ...project, keys: [] }) },
    store: {
      find: async (name) => {
        reads.push(name)
        const found = stored.has(name)
        await hold
        return found ? sealed(name) : undefined
      },
    },
  })
})

test('reads a known project once a minute, and an unknown one once a second', async () => {
  for (let i = 0; i < 3; i++) expect(await signingProjects.find('shop')).toEqual(signingProject('shop'))
  for (let i = 0; i < 3; i++) expect(await signingProjects.find('blog')).toBeUndefined()
  expect(reads).toEqual(['shop', 'blog'])
  clock.time += 1_000
  await signingProjects.find('shop')
  await signingProjects.find('blog')
  expect(reads).toEqual(['shop', 'blog', 'blog'])
  clock.time += 59_000
  await signingProjects.find('shop')
  expect(reads).toEqual(['shop', 'blog', 'blog', 'shop'])
})

test('a fresh read bypasses the cache and updates it', async () => {
  expect(await signingProjects.find('blog')).toBeUndefined()
  stored.add('blog')
  expect(await signingProjects.findFresh('blog')).toEqual(signingProject('blog'))
  expect(await signingProjects.find('blog')).toEqual(signingProject('blog'))
  expect(reads).toEqual(['blog', 'blog'])
})

test('simultaneous lookups share a read', async () => {
  await Promise.all(Array.from({ length: 10 }, () => signingProjects.find('shop')))
  expect(reads).toEqual(['shop'])
})

test('does not cache a project as unknown if it is created during the read', async () => {
  let release = () => {}
  hold = new Promise((resolve) => (release = resolve))
  const early = signingProjects.find('blog')
  stored.add('blog')
  signingProjects.forget('blog')
  release()
  expect(await early).toBeUndefined()
  expect(await signingProjects.find('blog')).toEqual(signingProject('blog'))
})

test('unknown names do not evict known projects', async () => {
  await signingProjects.find('shop')
  for (let i = 0; i < 11_000; i++) await signingProjects.find(`guess-${i}`)
  reads = []
  await signingProjects.find('shop')
  expect(reads).toEqual([])
})
