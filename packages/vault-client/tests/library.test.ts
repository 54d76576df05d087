import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { startFakeVault } from './fake-vault.ts'

const PACKAGE = join(import.meta.dirname, '..')

/** Runs Node in the package without jest's NODE_OPTIONS. Returns its standard output. */
async function node(...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  return (await promisify(execFile)(process.execPath, args, { cwd: PACKAGE, env })).stdout
}

test('the modules for npm read secrets from ES modules and CommonJS, and contain the command', async () => {
  await node('../../infra/release/library.mjs')
  const { privateJwk, publicKeyHex } = generateKeyPair()
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', 'from the vault')
  const options = JSON.stringify({ url: vault.url, project: 'shop', privateKey: privateJwk })
  for (const file of ['index.js', 'portable.js', 'index.cjs', 'portable.cjs']) {
    const load = file.endsWith('.cjs') ? `Promise.resolve(require('./lib/${file}'))` : `import('./lib/${file}')`
    const program = `${load}.then(async (m) => console.log((await m.createVaultClient(${options}).getAll()).A))`
    expect(await node('--input-type=commonjs', '--eval', program)).toBe('from the vault\n')
  }
  expect(JSON.parse(await node('lib/cli.js', 'keygen'))).toMatchObject({ crv: 'Ed25519' })
})
