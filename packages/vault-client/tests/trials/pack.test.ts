import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'

// Installs what `npm publish` would upload into empty projects: one with the client alone, one with the other package.
// Nothing is downloaded: external dependencies are packed from the workspace.
const CLIENT = join(import.meta.dirname, '../..')
const SIGNATURES = join(CLIENT, '../http-signatures')
const ROOT = join(CLIENT, '../..')
const curves = realpathSync(join(SIGNATURES, 'node_modules/@noble/curves'))
const PACKAGES = [
  { name: 'vault-client', dependencies: modulesOf(CLIENT, 'commander', 'dotenv', 'tweetnacl', 'undici') },
  {
    name: 'http-signatures',
    dependencies: [curves, join(curves, '../hashes'), ...modulesOf(SIGNATURES, 'tweetnacl')],
  },
] as const

const folder = newFolder()
const client = join(folder, 'vault-client')

beforeAll(async () => {
  for (const { name, dependencies } of PACKAGES) {
    const project = join(folder, name)
    const tarballs = join(project, 'tarballs')
    mkdirSync(tarballs, { recursive: true })
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    await run(join(CLIENT, '..', name), 'npx', '--yes', packageManager(), 'pack', '--pack-destination', tarballs)
    const sources = dependencies.map((dependency) => realpathSync(dependency))
    await run(project, 'npm', 'pack', ...sources, '--ignore-scripts', '--pack-destination', tarballs)
    const files = readdirSync(tarballs).map((file) => join(tarballs, file))
    await run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...files)
  }
})

test('the manifests list versions and existing files, and no folder of the workspace', async () => {
  for (const { name } of PACKAGES) {
    const installed = installedAt(name)
    const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
    expect(manifest).not.toMatch(/workspace:|"private"|\.\/(src|dist)\//)
    expect(JSON.parse(manifest)).toMatchObject({ repository: { directory: `packages/${name}` } })
    for (const [, file = ''] of manifest.matchAll(/"(\.\/lib\/[^"*]+)"/g)) readFileSync(join(installed, file))
    expect(readdirSync(installed).toSorted()).toEqual(['LICENSE', 'README.md', 'lib', 'package.json'])
    expect(await run(join(folder, name), 'npm', 'ls', '--all')).not.toMatch(/missing|invalid/)
  }
  expect(readdirSync(join(client, 'node_modules/@vault-and-tracker'))).toEqual(['vault-client'])
})

const READ = `
  const [, , url, privateKey] = process.argv
  createVaultClient({ url, project: 'shop', privateKey }).getAll().then((all) => console.log(JSON.stringify(all)))`

test.each([
  ['application.mjs', "import { createVaultClient } from '@vault-and-tracker/vault-client'"],
  ['portable.mjs', "import { createVaultClient } from '@vault-and-tracker/vault-client/portable'"],
  ['application.cjs', "const { createVaultClient } = require('@vault-and-tracker/vault-client')"],
  ['portable.cjs', "const { createVaultClient } = require('@vault-and-tracker/vault-client/portable')"],
])('%s reads its secrets', async (file, line) => {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', 'from the vault')
  writeFileSync(join(client, file), line + READ)
  expect(JSON.parse(await run(client, process.execPath, file, vault.url, privateJwk))).toEqual({ A: 'from the vault' })
})

test.each([
  ['import', "import * as sig from '@vault-and-tracker/http-signatures'"],
  ['require', "const sig = require('@vault-and-tracker/http-signatures')"],
])('http-signatures checks keys after %s', async (kind, line) => {
  const file = kind === 'import' ? 'keys.mjs' : 'keys.cjs'
  const project = join(folder, 'http-signatures')
  writeFileSync(join(project, file), `${line}\nsig.parsePublicKey(process.argv[2])`)
  await run(project, process.execPath, file, generateKeyPair().publicKeyHex)
  await expect(run(project, process.execPath, file, '00'.repeat(32))).rejects.toThrow('SignatureError')
})

const CONSUMERS = {
  'vault-client': `
    import { createVaultClient, type VaultClient, VaultError } from '@vault-and-tracker/vault-client'
    import { exchangeKey } from '@vault-and-tracker/vault-client/portable'
    export const client: VaultClient = createVaultClient({ url: '', project: '', privateKey: '' })
    export const secret: Promise<string | undefined> = client.getAll('staging').then(({ SECRET }) => SECRET)
    export const code: string = new VaultError('timeout', 'too late').code
    export const key = async (): Promise<string> => (await exchangeKey({ url: '', idToken: '', project: '' })).privateKey
    // @ts-expect-error a number is not a name
    void client.get(1)`,
  'http-signatures': `
    import { parsePublicKey } from '@vault-and-tracker/http-signatures'
    import { generateKeyPair } from '@vault-and-tracker/http-signatures/sign'
    import { importPrivateKey } from '@vault-and-tracker/http-signatures/portable'
    export const hex: string = importPrivateKey(generateKeyPair().privateJwk).publicKeyHex
    // @ts-expect-error a number is not a key
    parsePublicKey(1)`,
}

// The native compiler no longer has node10.
const OLDER = join(ROOT, 'node_modules/typescript/bin/tsc6')
const NATIVE = join(ROOT, 'node_modules/@typescript/native/bin/tsc')
const RESOLUTIONS = [
  ['node10', OLDER, 'node10.ts', '--module', 'commonjs', '--ignoreDeprecations', '6.0'],
  ['node16', NATIVE, 'node16.cts', '--module', 'node16'],
  ['node16', NATIVE, 'node16.mts', '--module', 'node16'],
  ['bundler', NATIVE, 'bundler.ts', '--module', 'esnext'],
] as const

test.each(RESOLUTIONS)('TypeScript finds the types with %s (%#)', async (resolution, compiler, file, ...options) => {
  for (const { name } of PACKAGES) {
    writeFileSync(join(folder, name, file), CONSUMERS[name])
    const types = ['--lib', 'es2023,dom', '--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node']
    const checks = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--moduleResolution',
      resolution,
      ...types,
      ...options,
    ]
    await run(join(folder, name), process.execPath, compiler, ...checks, file)
  }
})

test('the command runs under both names', async () => {
  for (const name of ['vault', 'vt-vault']) {
    expect(await run(client, 'npx', '--no-install', name, '--help')).toContain('Usage: vault [flags] [command]')
    expect(JSON.parse(await run(client, 'npx', '--no-install', name, 'keygen'))).toMatchObject({ crv: 'Ed25519' })
  }
})

test('an outdated Node receives the required version', async () => {
  const old = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })")}`
  const running = run(
    client,
    process.execPath,
    '--import',
    old,
    join(installedAt('vault-client'), 'lib/cli.js'),
    'keygen',
  )
  await expect(running).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Node 20.19'),
  })
})

test('each module that contains code has a source map that contains the source', () => {
  for (const { name } of PACKAGES) {
    const lib = join(installedAt(name), 'lib')
    const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?js$/.test(file))
    const mapped = files.filter((file) => readFileSync(join(lib, file), 'utf8').includes('sourceMappingURL'))
    expect(mapped.length).toBeGreaterThan(5)
    for (const file of mapped) {
      const [, map = ''] = /\/\/# sourceMappingURL=(.+)/.exec(readFileSync(join(lib, file), 'utf8')) ?? []
      const { sourcesContent = [] } = JSON.parse(readFileSync(join(lib, dirname(file), map), 'utf8')) as {
        sourcesContent?: string[]
      }
      expect(sourcesContent.join('').length).toBeGreaterThan(10)
    }
  }
})

/** Runs a program without jest's NODE_OPTIONS. Returns its standard output. */
async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  return (await promisify(execFile)(command, args, { cwd, env })).stdout
}

function packageManager(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { packageManager: string }
  return manifest.packageManager
}

function modulesOf(folder: string, ...names: string[]): string[] {
  return names.map((name) => join(folder, 'node_modules', name))
}

function installedAt(name: string): string {
  return join(folder, name, 'node_modules/@vault-and-tracker', name)
}
