import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, freePort, requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { createVaultClient } from '@vault-and-tracker/vault-client'
import { admin } from './support/client.ts'
import { requirePython } from './support/python.ts'
import { startVault, type TestVault } from './support/vault.ts'

// The recipes of docs/signing.md.
const page = readFileSync(new URL('../../../docs/signing.md', import.meta.url), 'utf8')
const folder = temporaryFolder('signing-recipes')
const keyFile = join(folder, 'key.pem')
const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()

let vault: TestVault
let environment: NodeJS.ProcessEnv
let python: string

function codeOf(language: string, n = 0): string {
  const code = [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))][n]?.[1]
  if (code === undefined) throw new Error(`no ${language} in docs/signing.md`)
  return code
}

async function run(command: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { env: environment })).stdout
}

beforeAll(async () => {
  vault = await startVault({ WEBHOOK_ALLOW_PRIVATE: 'true' })
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
  python = await requirePython()
  for (const program of ['curl', 'openssl']) await requireProgram(program)
})

afterAll(() => vault.stop())

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
