import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually, freePort, launchChromium, requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient } from '@vault-and-tracker/vault-client'
import type * as portable from '@vault-and-tracker/vault-client/portable'
import { admin } from './support/client.ts'
import { requirePython } from './support/python.ts'
import { startVault, type TestVault } from './support/vault.ts'

// The clients in other languages, with their own tests.
const CLIENTS = new URL('../../../clients/', import.meta.url).pathname
const folder = temporaryFolder('clients')
const keyFile = join(folder, '.data/orders.key')
/** Kept for the next run, like the cache of Jest. */
const MYPY_CACHE = new URL('../node_modules/.cache/mypy', import.meta.url).pathname

let vault: TestVault
let python: string

beforeAll(async () => {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  mkdirSync(join(folder, '.data'))
  writeFileSync(keyFile, `${privateJwk}\n`, { mode: 0o600 })
  python = await requirePython()
  vault = await startVault({ WEBHOOK_ALLOW_PRIVATE: 'true' })
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
  await run(join(CLIENTS, 'python'), python, '-m', 'unittest', 'discover')
  await run(join(CLIENTS, 'python'), python, '-m', 'unittest', 'tests.vault')
})

test('the Python client has complete types', async () => {
  const mypy = await requireProgram('mypy')
  await run(join(CLIENTS, 'python'), mypy, '--python-executable', python, '--cache-dir', MYPY_CACHE)
})

test('the README of the Python client runs as printed', async () => {
  const [blocking = '', concurrent = ''] = blocksOf('python', 'python')
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

describe('in a browser', () => {
  const ENTRY = new URL('../../../packages/vault-client/src/portable.ts', import.meta.url).pathname
  const LOADER = ['--import', '@vault-and-tracker/dev-env/typescript']
  const BUNDLE = new URL('support/bundle.ts', import.meta.url).pathname
  const { privateJwk, publicKeyHex } = generateKeyPair()

  let script: string

  beforeAll(async () => {
    expect(
      (
        await admin(vault.url, 'POST', '/projects', {
          name: 'shop',
          publicKey: publicKeyHex,
          requireContentDigest: true,
        })
      ).status,
    ).toBe(201)
    const options = { env: { ...process.env, NODE_OPTIONS: '' }, cwd: import.meta.dirname }
    script = (await promisify(execFile)(process.execPath, [...LOADER, BUNDLE, ENTRY], options)).stdout
  })

  test('the portable client works in Chromium', async () => {
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      await page.route(`${vault.url}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>page</p>' }))
      await page.goto(`${vault.url}/page`)
      await page.addScriptTag({ content: script })
      const seen = await page.evaluate(
        async ([url = '', privateKey = '']) => {
          const { createVaultClient } = (globalThis as unknown as { vaultClient: typeof portable }).vaultClient
          const client = createVaultClient({ url, project: 'shop', privateKey })
          await client.put('SIZE', 'groß', 'staging')
          const secrets = { ...(await client.getAll('staging')) }
          const nowhere = createVaultClient({ url: 'http://127.0.0.1:1', project: 'shop', privateKey, retries: 0 })
          const code = await nowhere.getAll().catch((error: unknown) => (error as { code: string }).code)
          return { secrets, code }
        },
        [vault.url, privateJwk],
      )
      expect(seen).toEqual({ secrets: { SIZE: 'groß' }, code: 'unreachable' })
    } finally {
      await browser.close()
    }
  })
})

describe('the recipes of docs/signing.md', () => {
  // The recipes of docs/signing.md.
  const page = readFileSync(new URL('../../../docs/signing.md', import.meta.url), 'utf8')
  const folder = temporaryFolder('signing-recipes')
  const keyFile = join(folder, 'key.pem')
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()

  let environment: NodeJS.ProcessEnv

  function codeOf(language: string, n = 0): string {
    const code = [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))][n]?.[1]
    if (code === undefined) throw new Error(`no ${language} in docs/signing.md`)
    return code
  }

  async function run(command: string, ...args: string[]): Promise<string> {
    return (await promisify(execFile)(command, args, { env: environment })).stdout
  }

  beforeAll(async () => {
    writeFileSync(keyFile, privateKey, { mode: 0o600 })
    writeFileSync(join(folder, 'recipe.py'), codeOf('python'))
    writeFileSync(join(folder, 'receiver.py'), codeOf('python', 1))
    writeFileSync(join(folder, 'recipe.sh'), codeOf('sh'))
    environment = {
      ...process.env,
      NODE_OPTIONS: '',
      ...{ VAULT_URL: vault.url, VAULT_PROJECT: 'recipes', VAULT_PRIVATE_KEY_FILE: keyFile },
    }
    const client = createVaultClient({ url: vault.url, project: 'recipes', privateKey })
    expect(
      (
        await admin(vault.url, 'POST', '/projects', {
          name: 'recipes',
          publicKey: client.publicKey,
          requireContentDigest: true,
        })
      ).status,
    ).toBe(201)
    await client.put('COLOUR', 'grün', 'staging')
    for (const program of ['curl', 'openssl']) await requireProgram(program)
  })

  test('the recipe in Python fetches secrets', async () => {
    expect(JSON.parse(await run(python, join(folder, 'recipe.py'), 'staging'))).toEqual({ COLOUR: 'grün' })
  })

  test('the recipe with openssl and curl fetches secrets', async () => {
    expect(JSON.parse(await run('sh', join(folder, 'recipe.sh'), 'staging'))).toEqual({ COLOUR: 'grün' })
  })

  test('the receiver in Python verifies webhooks, and refuses changed ones', async () => {
    const { publicKey } = (await (await fetch(`${vault.url}/v1/webhooks/key`)).json()) as { publicKey: string }
    const url = `http://127.0.0.1:${String(await freePort())}/vault?token=of-the-receiver`
    const env = { ...environment, WEBHOOK_KEY: publicKey, WEBHOOK_URL: url }
    const receiver = spawn(python, [join(folder, 'receiver.py')], { env, stdio: ['ignore', 'pipe', 'ignore'] })
    let printed = ''
    receiver.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    try {
      const forge = () => fetch(url, { method: 'POST', body: '{"forged":true}' })
      await eventually(async () => (await forge().catch(() => undefined))?.status === 401)
      await admin(vault.url, 'POST', '/projects/recipes/webhooks', { url })
      const client = createVaultClient({ url: vault.url, project: 'recipes', privateKey })
      await client.put('COLOUR', 'blau', 'production')
      await vault.context.useCases.webhookDeliveries.startDue()
      await vault.context.useCases.webhookDeliveries.settled()
      expect(JSON.parse(printed)).toMatchObject({ event: 'secret.put', secrets: [{ key: 'COLOUR', version: 1 }] })
    } finally {
      receiver.kill()
    }
  })

  test('the recipe in Python reproduces the test vectors', async () => {
    const program = `import json, sys; sys.path.insert(0, sys.argv[1]); import recipe
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(sys.argv[2]))
given = dict(project="shop", key=key, created=1700000000, nonce="000102030405060708090a0b0c0d0e0f")
body = b'{"key":"A","value":"1","env":"production"}'
print(json.dumps([recipe.signed("GET", "https://vault.example.org/v1/secrets?env=production", **given),
  recipe.signed("PUT", "http://127.0.0.1:4200/v1/secrets", body=body, **given)]))`
    const seed = /\| seed \| `([0-9a-f]{64})`/.exec(page)?.[1] ?? ''
    const made = JSON.parse(await run(python, '-c', program, folder, seed)) as Record<string, string>[]
    const printed = [...page.matchAll(/```http\n(.*?)```/gs)].map(([, block = '']) =>
      Object.fromEntries(
        block
          .trim()
          .split('\n')
          .map((line) => line.split(/: (.*)/, 2) as [string, string]),
      ),
    )
    expect(made).toEqual(printed)
    expect(made).toHaveLength(2)
  })
})
