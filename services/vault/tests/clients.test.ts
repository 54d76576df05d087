import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { admin } from './support/client.ts'
import { requirePython } from './support/python.ts'
import { startVault, type TestVault } from './support/vault.ts'

// The clients in other languages, with their own tests.
const CLIENTS = new URL('../../../clients/', import.meta.url).pathname
const folder = temporaryFolder('clients')
const keyFile = join(folder, '.data/orders.key')

let vault: TestVault

beforeAll(async () => {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  mkdirSync(join(folder, '.data'))
  writeFileSync(keyFile, `${privateJwk}\n`, { mode: 0o600 })
  vault = await startVault()
  const project = { name: 'orders', publicKey: publicKeyHex, requireContentDigest: true }
  expect((await admin(vault.url, 'POST', '/projects', project)).status).toBe(201)
})

afterAll(async () => {
  await vault.stop()
})

/** Runs a program in a folder, with the variables of the `vault` command. The error of a failure has its output. */
async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const own = { VAULT_URL: vault.url, VAULT_PROJECT: 'orders', VAULT_PRIVATE_KEY: '', VAULT_PRIVATE_KEY_FILE: keyFile }
  const tools = { PYTHONPATH: join(CLIENTS, 'python/src'), PYTHONDONTWRITEBYTECODE: '1' }
  const go = { CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' }
  const env = { ...process.env, NODE_OPTIONS: '', ...own, ...tools, ...go }
  try {
    return (await promisify(execFile)(command, args, { cwd, env })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  }
}

/** The blocks of a README in a language, for this vault. */
function blocksOf(client: string, language: string): string[] {
  const page = readFileSync(join(CLIENTS, client, 'README.md'), 'utf8')
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))]
  expect(blocks.length).toBeGreaterThan(0)
  return blocks.map(([, code = '']) => code.replaceAll('http://127.0.0.1:4200', vault.url))
}

test('the Python client passes its tests, including those against this vault', async () => {
  const python = await requirePython()
  await run(join(CLIENTS, 'python'), python, '-m', 'unittest', 'discover')
  await run(join(CLIENTS, 'python'), python, '-m', 'unittest', 'tests.vault')
})

test('the Python client has complete types', async () => {
  const mypy = await requireProgram('mypy')
  const python = await requirePython()
  await run(join(CLIENTS, 'python'), mypy, '--python-executable', python, '--cache-dir', join(folder, 'mypy'))
})

test('the README of the Python client runs as printed', async () => {
  const [blocking = '', concurrent = ''] = blocksOf('python', 'python')
  const python = await requirePython()
  expect(await run(folder, python, '-c', blocking)).toBe('hello\n')
  expect(await run(folder, python, '-c', concurrent)).toBe("('GREETING',) () ()\n() () ('GREETING',)\n")
})

test('the Go client passes its tests, including those against this vault', async () => {
  const go = await requireProgram('go')
  expect(await run(join(CLIENTS, 'go'), 'gofmt', '-l', '.')).toBe('')
  await run(join(CLIENTS, 'go'), go, 'vet', '-tags', 'vault', './...')
  await run(join(CLIENTS, 'go'), go, 'test', '-tags', 'vault', './...')
})

test('the README of the Go client runs as printed', async () => {
  await requireProgram('go')
  cpSync(join(CLIENTS, 'go'), join(folder, 'clients/go'), { recursive: true })
  const [commands = ''] = blocksOf('go', 'sh')
  const [program = ''] = blocksOf('go', 'go')
  await run(folder, 'sh', '-euc', commands)
  writeFileSync(join(folder, '.data/hello/main.go'), program)
  expect(await run(join(folder, '.data/hello'), 'sh', '-euc', 'go mod tidy && go run .')).toBe('hello\n')
})
