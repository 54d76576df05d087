import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultClient } from '@vault-and-tracker/vault-client'
import { admin } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

// `vault run --watch` as a process of its own, since it is sent signals.
const CLI = new URL('../../../packages/vault-client/src/cli.ts', import.meta.url).pathname
const { privateJwk, publicKeyHex } = generateKeyPair()

let vault: TestVault
let client: VaultClient
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  vault = await startVault()
  expect((await admin(vault.url, 'POST', '/projects', { name: 'shop', publicKey: publicKeyHex })).status).toBe(201)
  client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  const home = mkdtempSync(join(tmpdir(), 'command-line-'))
  const project = { VAULT_URL: vault.url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY: privateJwk, HOME: home }
  env = { ...process.env, NODE_OPTIONS: '', ...project }
})

afterAll(() => vault.stop())

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'command-line-')), 'seen')

/** Waits for something that another process does. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await delay(10)
}
const lines = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)

function runWatching(script: string): { status: Promise<unknown>; kill: (signal: NodeJS.Signals) => boolean } {
  const args = [CLI, 'run', '--watch', '--interval', '1s', '--', process.execPath, '-e', script]
  const node = ['--import', '@vault-and-tracker/dev-env/typescript', ...args]
  const child = spawn(process.execPath, node, { env, cwd: import.meta.dirname, stdio: 'ignore', detached: true })
  return { status: once(child, 'exit').then(([status]) => status as unknown), kill: (signal) => child.kill(signal) }
}

test('a signal that the command got is not sent to the one that is started after a change', async () => {
  await client.put('A', 'first')
  const file = newFile()
  const script = `process.on('SIGUSR2', () => require('fs').appendFileSync('${file}', 'signal\\n'))
    require('fs').appendFileSync('${file}', process.env.A + '\\n')
    if (process.env.A === 'last') setTimeout(() => process.exit(3), 300); else setInterval(() => {}, 1000)`
  const running = runWatching(script)
  await until(() => lines(file) === 1)
  running.kill('SIGUSR2')
  await until(() => lines(file) === 2)
  await client.put('A', 'last')
  expect(await running.status).toBe(3)
  expect(readFileSync(file, 'utf8')).toBe('first\nsignal\nlast\n')
})

test('a command that was told to end is not started anew', async () => {
  await client.put('A', 'first')
  const file = newFile()
  const script = `process.on('SIGTERM', () => setTimeout(() => process.exit(4), 2500))
    require('fs').appendFileSync('${file}', process.env.A + '\\n'); setInterval(() => {}, 1000)`
  const running = runWatching(script)
  await until(() => lines(file) === 1)
  running.kill('SIGTERM')
  await client.put('A', 'last')
  expect(await running.status).toBe(4)
  expect(readFileSync(file, 'utf8')).toBe('first\n')
})
