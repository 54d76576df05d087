import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { launchChromium } from '@vault-and-tracker/dev-env'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import type * as portable from '@vault-and-tracker/vault-client/portable'
import { admin } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const ENTRY = new URL('../../../packages/vault-client/src/portable.ts', import.meta.url).pathname
const LOADER = ['--import', '@vault-and-tracker/dev-env/typescript']
const BUNDLE = new URL('support/bundle.ts', import.meta.url).pathname
const { privateJwk, publicKeyHex } = generateKeyPair()

let vault: TestVault
let script: string

beforeAll(async () => {
  vault = await startVault()
  expect(
    (await admin(vault.url, 'POST', '/projects', { name: 'shop', publicKey: publicKeyHex, requireContentDigest: true }))
      .status,
  ).toBe(201)
  const options = { env: { ...process.env, NODE_OPTIONS: '' }, cwd: import.meta.dirname }
  script = (await promisify(execFile)(process.execPath, [...LOADER, BUNDLE, ENTRY], options)).stdout
})

afterAll(() => vault.stop())

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
