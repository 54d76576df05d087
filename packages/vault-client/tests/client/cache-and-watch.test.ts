import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createSecretCache } from '../../src/client/cache.ts'
import { VaultError } from '../../src/client/errors.ts'
import type { Secrets } from '../../src/client/secrets.ts'
import { type Changes, createVaultClient } from '../../src/index.ts'
import { startFakeVault } from '../fake-vault.ts'

const { privateJwk, publicKeyHex } = generateKeyPair()
const unavailable = new VaultError('connection_refused', 'refused')

/** A cache with a simulated clock, and a vault that counts reads. */
function world(options: { freshMs: number; staleMs?: number; staleIfErrorMs?: number }) {
  const state = { now: 0, reads: 0, failure: undefined as Error | undefined }
  const cache = createSecretCache(options, () => state.now)
  const read = (): Promise<Secrets> => {
    state.reads += 1
    return state.failure === undefined ? Promise.resolve({ READ: String(state.reads) }) : Promise.reject(state.failure)
  }
  return { state, cache, get: () => cache.get('production', read) }
}

test('fresh secrets are returned from memory, and concurrent callers share one read', async () => {
  const { state, get } = world({ freshMs: 1000 })
  expect(await Promise.all([get(), get(), get()])).toEqual([{ READ: '1' }, { READ: '1' }, { READ: '1' }])
  state.now = 1000
  expect(await get()).toEqual({ READ: '1' })
  state.now = 1001
  expect(await get()).toEqual({ READ: '2' })
})

test('stale secrets are returned immediately and refreshed in the background', async () => {
  const { state, get } = world({ freshMs: 1000, staleMs: 5000 })
  await get()
  state.now = 2000
  expect(await get()).toEqual({ READ: '1' })
  await Promise.resolve()
  expect(state.reads).toBe(2)
  expect(await get()).toEqual({ READ: '2' })
  state.now = 8000
  expect(await get()).toEqual({ READ: '3' })
})

test('while the vault is unavailable, the last secrets are returned up to the maximum age', async () => {
  const { state, get } = world({ freshMs: 0, staleIfErrorMs: 60_000 })
  await get()
  state.failure = unavailable
  state.now = 60_000
  expect(await get()).toEqual({ READ: '1' })
  state.now = 60_001
  await expect(get()).rejects.toBe(unavailable)
})

test('a refusal is thrown even if there are secrets in memory', async () => {
  const { state, get } = world({ freshMs: 0, staleIfErrorMs: 60_000 })
  await get()
  state.failure = new VaultError('invalid_signature', 'revoked', { status: 401 })
  state.now = 1
  await expect(get()).rejects.toBe(state.failure)
})

test('a read that was under way during clear is not cached', async () => {
  const { state, cache, get } = world({ freshMs: 1000 })
  const first = get()
  cache.clear('production')
  await first
  await get()
  expect(state.reads).toBe(2)
})

test('a client with a cache sends one request, and another after its own put', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const options = { url: vault.url, project: 'shop', privateKey: privateJwk, cache: { freshMs: 60_000 } }
  const client = createVaultClient(options)
  vault.secrets.set('A', '1')
  const mine = await client.getAll()
  mine['A'] = 'changed by its caller'
  expect(await client.get('A')).toBe('1')
  expect(vault.seen).toHaveLength(1)
  await client.put('A', '2')
  expect(await client.get('A')).toBe('2')
  expect(await client.get('B')).toBeUndefined()
})

test.each([false, true])(
  'watch reports changes, continues after errors, and stops (older vault: %s)',
  async (isOld) => {
    await using vault = await startFakeVault(publicKeyHex)
    vault.isOld = isOld
    const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk, retries: 0 })
    vault.secrets.set('KEPT', '1').set('CHANGED', '1').set('REMOVED', '1')
    const errors: unknown[] = []
    const told: Changes[] = []
    let happened = (): void => undefined
    const next = (): Promise<void> =>
      new Promise((resolve) => {
        happened = resolve
      })
    const watch = client.watch('production', {
      known: await client.getAll(),
      intervalMs: 5,
      onChange: (_secrets, changes) => {
        told.push(changes)
        happened()
      },
      onError: (error) => {
        errors.push(error)
        happened()
      },
    })
    const failed = next()
    vault.answerNext('dropped')
    await failed
    const changed = next()
    vault.secrets.set('CHANGED', '2')
    await changed
    expect(told).toEqual([{ added: [], changed: ['CHANGED'], removed: [] }])
    const rest = next()
    vault.secrets.delete('REMOVED')
    await rest
    expect(told.at(-1)).toEqual({ added: [], changed: [], removed: ['REMOVED'] })
    expect(errors).toHaveLength(1)
    await watch.stop()
    const count = vault.seen.length
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(vault.seen).toHaveLength(count)
  },
)

test('watch receives changes without waiting for the interval', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', '1')
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  let reads = 0
  const changed = new Promise<Secrets>((resolve) => {
    const watch = client.watch('production', {
      onRead: () => void (reads += 1),
      onChange: (secrets) => {
        void watch.stop()
        resolve(secrets)
      },
    })
  })
  while (vault.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  vault.secrets.set('A', '2')
  expect(await changed).toEqual({ A: '2' })
  expect(reads).toBeGreaterThanOrEqual(2)
  const targets = vault.seen.map(({ target }) => new URL(target, vault.url))
  expect(targets.every(({ pathname }) => pathname === '/v1/secrets/changes')).toBe(true)
  expect(targets.map(({ searchParams }) => searchParams.has('since'))).toEqual([
    false,
    ...targets.slice(1).map(() => true),
  ])
})

test('watch renews cached secrets with each response', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', '1')
  const options = { url: vault.url, project: 'shop', privateKey: privateJwk, cache: { freshMs: 60_000 } }
  const client = createVaultClient(options)
  expect(await client.get('A')).toBe('1')
  vault.secrets.set('A', '2')
  await new Promise<void>((resolve) => {
    const watch = client.watch('production', {
      onChange: () => undefined,
      onRead: () => {
        void watch.stop()
        resolve()
      },
    })
  })
  expect(await client.get('A')).toBe('2')
  expect(vault.seen).toHaveLength(2)
})

test('watch ends when its signal is aborted', async () => {
  await using vault = await startFakeVault(publicKeyHex)
  const ending = new AbortController()
  const watch = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk }).watch('production', {
    intervalMs: 5,
    onChange: () => undefined,
    signal: ending.signal,
  })
  ending.abort()
  await watch.stop()
})

test('watch reloads the key, and backs off while the vault refuses it', async () => {
  const next = generateKeyPair()
  await using vault = await startFakeVault(next.publicKeyHex)
  const waits: number[] = []
  const errors: unknown[] = []
  let [current, reloads] = [privateJwk, 0]
  const client = createVaultClient({
    ...{ url: vault.url, project: 'shop', privateKey: privateJwk },
    reloadPrivateKey: () => {
      waits.push(performance.now())
      if (++reloads === 8) current = next.privateJwk
      return current
    },
  })
  vault.secrets.set('A', '1')
  const read = new Promise<void>((resolve) => {
    const watch = client.watch('production', {
      intervalMs: 5,
      onChange: () => undefined,
      onError: (error) => void errors.push(error),
      onRead: () => {
        void watch.stop()
        resolve()
      },
    })
  })
  await read
  // After seven refusals of the old key, the doubled waits are 10 to 640 ms, plus or minus a tenth.
  expect((waits[7] ?? 0) - (waits[0] ?? 0)).toBeGreaterThanOrEqual(1_270 * 0.9 - 50)
  expect(errors).toEqual([expect.objectContaining({ code: 'invalid_signature' })])
  expect(client.publicKey).toBe(next.publicKeyHex)
})
