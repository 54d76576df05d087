import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'

// Installs what `npm publish` would upload into an empty project. Nothing is downloaded: external dependencies are
// packed from the workspace.
const CLIENT = join(import.meta.dirname, '../..')
const SIGNATURES = join(CLIENT, '../http-signatures')
const ROOT = join(CLIENT, '../..')
const OTHERS = ['commander', 'dotenv', 'undici']

const folder = newFolder()
const tarballs = join(folder, 'tarballs')
const project = join(folder, 'project')

/** Runs a program without jest's NODE_OPTIONS. Returns its standard output. */
async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  return (await promisify(execFile)(command, args, { cwd, env })).stdout
}

beforeAll(async () => {
  mkdirSync(tarballs)
  mkdirSync(project)
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { packageManager: string }
  // In this order, because the client compiles against the other package.
  for (const part of [SIGNATURES, CLIENT])
    await run(part, 'npx', '--yes', manifest.packageManager, 'pack', '--pack-destination', tarballs)
  const curves = realpathSync(join(SIGNATURES, 'node_modules/@noble/curves'))
  const dependencies = [
    ...[curves, join(curves, '../hashes'), join(SIGNATURES, 'node_modules/tweetnacl')],
    ...OTHERS.map((name) => join(CLIENT, 'node_modules', name)),
  ]
  const sources = dependencies.map((dependency) => realpathSync(dependency))
  await run(folder, 'npm', 'pack', ...sources, '--ignore-scripts', '--pack-destination', tarballs)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const files = readdirSync(tarballs).map((name) => join(tarballs, name))
  expect(files).toHaveLength(2 + dependencies.length)
  await run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', ...files)
})

test('the manifests list versions and existing files, and no folder of the workspace', async () => {
  for (const name of ['vault-client', 'http-signatures']) {
    const installed = join(project, 'node_modules/@vault-and-tracker', name)
    const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
    expect(manifest).not.toMatch(/workspace:|"private"|\.\/src\//)
    expect(JSON.parse(manifest)).toMatchObject({ repository: { directory: `packages/${name}` } })
    for (const [, file = ''] of manifest.matchAll(/"(\.\/dist\/[^"*]+)"/g)) readFileSync(join(installed, file))
    const rest = readdirSync(installed).toSorted()
    expect(rest).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  }
  expect(await run(project, 'npm', 'ls', '--all')).not.toMatch(/missing|invalid/)
})

test.each([[[]], [['--conditions=source']]])('an application reads its secrets, node %j', async (options) => {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  await using vault = await startFakeVault(publicKeyHex)
  vault.secrets.set('A', 'from the vault')
  const program = `
    import { createVaultClient } from '@vault-and-tracker/vault-client'
    const [, , url, privateKey] = process.argv
    console.log(JSON.stringify(await createVaultClient({ url, project: 'shop', privateKey }).getAll()))`
  writeFileSync(join(project, 'application.js'), program)
  const read = await run(project, process.execPath, ...options, 'application.js', vault.url, privateJwk)
  expect(JSON.parse(read)).toEqual({ A: 'from the vault' })
})

test('an application in TypeScript finds the types', async () => {
  const program = `
    import { createVaultClient, type VaultClient, VaultError } from '@vault-and-tracker/vault-client'
    export const client: VaultClient = createVaultClient({ url: '', project: '', privateKey: '' })
    export const secret: Promise<string | undefined> = client.getAll('staging').then(({ SECRET }) => SECRET)
    export const code: string = new VaultError('timeout', 'too late').code`
  writeFileSync(join(project, 'application.ts'), program)
  const tsc = join(ROOT, 'node_modules/@typescript/native/bin/tsc')
  await run(
    project,
    process.execPath,
    tsc,
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    'application.ts',
  )
})

test('the vault command runs', async () => {
  expect(await run(project, 'npx', '--no-install', 'vault', '--help')).toContain('Usage: vault [flags] [command]')
  expect(JSON.parse(await run(project, 'npx', '--no-install', 'vault', 'keygen'))).toMatchObject({ crv: 'Ed25519' })
})

test('an outdated Node receives the required version', async () => {
  const old = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })")}`
  const cli = join(project, 'node_modules/@vault-and-tracker/vault-client/dist/cli.js')
  const running = run(project, process.execPath, '--import', old, cli, 'keygen')
  await expect(running).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Node 20.19'),
  })
})

test('each file has a source map that contains the source', () => {
  for (const name of ['vault-client', 'http-signatures']) {
    const dist = join(project, 'node_modules/@vault-and-tracker', name, 'dist')
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      const [, map = ''] = /\/\/# sourceMappingURL=(.+)/.exec(readFileSync(join(dist, file), 'utf8')) ?? []
      const { sourcesContent } = JSON.parse(readFileSync(join(dist, dirname(file), map), 'utf8')) as {
        sourcesContent?: string[]
      }
      expect(sourcesContent?.[0]?.length ?? 0).toBeGreaterThan(10)
    }
  }
})
