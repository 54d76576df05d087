import { expect, test } from '@jest/globals'
import { launchChromium } from '@vault-and-tracker/dev-env'
import { build } from 'esbuild'
import { keyPair } from './commands/run-vault.ts'
import { startFakeVault } from './fake-vault.ts'

const entry = new URL('../src/portable.ts', import.meta.url).pathname

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    ...{ entryPoints: [entry], bundle: true, write: false, format: 'iife', globalName: 'vaultClient' },
    ...{ platform: 'browser', conditions: ['source'], logLevel: 'silent' },
  })
  return outputFiles[0]?.text ?? ''
}

test('a page in Chromium reads and puts secrets with the portable entry', async () => {
  await using vault = await startFakeVault(keyPair.publicKeyHex)
  vault.secrets.set('COLOUR', 'grün')
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.route(`${vault.url}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>page</p>' }))
    await page.goto(`${vault.url}/page`)
    await page.addScriptTag({ content: await bundle() })
    const seen = await page.evaluate(
      async ([url, privateKey]) => {
        const { createVaultClient } = (globalThis as unknown as { vaultClient: typeof import('../src/portable.ts') })
          .vaultClient
        const client = createVaultClient({ url: url ?? '', project: 'shop', privateKey: privateKey ?? '', retries: 0 })
        await client.put('SIZE', 'groß', 'staging')
        const secrets = { ...(await client.getAll()) }
        const refused = createVaultClient({
          url: 'http://127.0.0.1:1',
          project: 'shop',
          privateKey: privateKey ?? '',
          retries: 0,
        })
        const code = await refused.getAll().catch((error: unknown) => (error as { code: string }).code)
        return { secrets, code }
      },
      [vault.url, keyPair.privateJwk],
    )
    expect(seen).toEqual({ secrets: { COLOUR: 'grün', SIZE: 'groß' }, code: 'unreachable' })
    expect(vault.seen.map(({ covered }) => covered)).toEqual([true, false])
  } finally {
    await browser.close()
  }
})

test('the portable entry holds nothing of Node', async () => {
  expect(await bundle()).not.toMatch(/\bnode:|\bBuffer\b|\bprocess\b/)
})
