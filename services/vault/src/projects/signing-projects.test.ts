import { beforeEach, expect, test } from '@jest/globals'
import type { ProjectKey, SealedProject } from '../integrity/rows.ts'
import type { ExchangedKey } from './project-keys.ts'
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

const ownKey = ({ publicKey }: { publicKey: Buffer }): ProjectKey => ({
  ...{ id: 'id', name: 'ci', publicKey, createdAt: new Date(0), notAfter: null, expiresAt: null, revokedAt: null },
  ...{ scope: { access: 'read', envs: null }, lastUsedAt: null },
})

/** A key that was admitted for an ID token. */
const exchangedKey = (publicKey: Buffer): ExchangedKey => ({
  ...{ id: 'id', projectUid: 'uid of shop', ruleId: 'rule', rule: 'deploy', publicKey, subject: 'subject' },
  ...{ scope: { access: 'read', envs: null }, createdAt: new Date(0), expiresAt: new Date(100_000_000) },
  ...{ lastUsedAt: null, code: Buffer.alloc(32) },
})
const HEX = 'ab'.repeat(32)

let stored: Set<string>
let exchanged: Set<string>
let reads: string[]
let hold: Promise<void>
let generation: number
let keys: readonly { publicKey: Buffer }[]
let signingProjects: SigningProjects

beforeEach(() => {
  stored = new Set(['shop'])
  exchanged = new Set()
  reads = []
  hold = Promise.resolve()
  generation = 1
  keys = []
  signingProjects = createSigningProjects({
    clock,
    rows: {
      openProject: (project) => ({ ...project, generation, keys: keys.map(ownKey) }),
      exchangedKeys: { accept: () => true },
    },
    store: {
      find: async (name) => {
        reads.push(name)
        const found = stored.has(name)
        await hold
        return found ? sealed(name) : undefined
      },
      peek: (name, publicKey) => {
        const publicKeyHex = publicKey.toString('hex')
        reads.push(`peek ${name} ${publicKeyHex.slice(0, 2)}`)
        const hasKey = exchanged.has(publicKeyHex) || keys.some((key) => key.publicKey.equals(publicKey))
        return Promise.resolve(stored.has(name) ? { uid: `uid of ${name}`, generation, hasKey } : undefined)
      },
      findWithExchangedKey: async (name, publicKey) => {
        const publicKeyHex = publicKey.toString('hex')
        reads.push(`${name} ${publicKeyHex.slice(0, 2)}`)
        await hold
        if (!stored.has(name)) return undefined
        const row = exchanged.has(publicKeyHex) ? exchangedKey(publicKey) : undefined
        return { project: sealed(name), exchanged: row, ended: undefined }
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

async function findWithKey(publicKeyHex: string) {
  return signingProjects.findWithKey((await signingProjects.find('shop')) ?? signingProject('shop'), publicKeyHex)
}

test('reads an exchanged key once a minute, and of a project with an unknown key only whether it changed', async () => {
  exchanged.add(HEX)
  await signingProjects.find('shop')
  for (let i = 0; i < 3; i++) {
    const found = await findWithKey(HEX)
    expect([...(found?.keys.keys() ?? [])]).toEqual([HEX])
    expect(found?.keys.get(HEX)).toMatchObject({ name: 'deploy', exchanged: { id: 'id' } })
  }
  expect(reads).toEqual(['shop', 'peek shop ab', 'shop ab'])
  for (const start of ['00', '11']) expect((await findWithKey(start.repeat(32)))?.keys.size).toBe(0)
  expect(reads.slice(3)).toEqual(['peek shop 00', 'peek shop 11'])
  clock.time += 60_000
  exchanged.clear()
  expect((await findWithKey(HEX))?.keys.size).toBe(0)
})

test('reads a project again if it changed, was deleted, or has a key that is not cached', async () => {
  await signingProjects.find('shop')
  generation = 2
  expect((await findWithKey('00'.repeat(32)))?.generation).toBe(2)
  keys = [{ publicKey: Buffer.alloc(32, 0x11) }]
  expect([...((await findWithKey('11'.repeat(32)))?.keys.keys() ?? [])]).toEqual(['11'.repeat(32)])
  expect(reads).toEqual(['shop', 'peek shop 00', 'shop 00', 'peek shop 11', 'shop 11'])
  reads = []
  stored.clear()
  expect(await findWithKey('00'.repeat(32))).toBeUndefined()
  expect(reads).toEqual(['peek shop 00', 'shop 00'])
})

test('imports a key once', async () => {
  keys = [{ publicKey: Buffer.alloc(32, 0x11) }]
  const key = (await signingProjects.find('shop'))?.keys.get('11'.repeat(32))
  expect(key?.verifyKey().publicKeyHex).toBe('11'.repeat(32))
  expect(key?.verifyKey()).toBe(key?.verifyKey())
})

test('an exchanged key is not a key of the cached project', async () => {
  exchanged.add(HEX)
  await findWithKey(HEX)
  expect((await signingProjects.find('shop'))?.keys.size).toBe(0)
  exchanged.clear()
  expect((await signingProjects.findFreshWithKey('shop', HEX))?.keys.size).toBe(0)
  expect((await findWithKey(HEX))?.keys.size).toBe(0)
})
