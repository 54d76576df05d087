import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient } from '../../src/index.ts'
import { startFakeVault } from '../fake-vault.ts'
import { newFolder } from '../new-folder.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

const { publicKeyHex, privateJwk } = keyPair
const newFile = (): string => join(newFolder(), 'seen')

/** Polls until a condition on another process is true. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await delay(10)
}
const lines = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)

test('secrets that cannot start a command do not stop the running one', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'first')
  const file = newFile()
  const script = `require('fs').appendFileSync('${file}', process.env.A + '\\n')
    if (process.env.A === 'last') process.exit(5); setInterval(() => {}, 1000)`
  const running = vault(['run', '--watch', '--interval', '1s', '--', 'node', '-e', script], projectOf(server.url))
  await until(() => lines(file) === 1)
  server.secrets.clear()
  const seen = server.seen.length
  await until(() => server.seen.length >= seen + 2)
  server.secrets.set('A', 'last')
  const { status, err } = await running
  expect(status).toBe(5)
  expect(err).toContain('has no secrets')
})

test('with --redact a background program does not delay a restart', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'first')
  const file = newFile()
  const script = `if [ "$A" = last ]; then kill "$(cat ${file}.pid)" && exit 6; exit 7; fi
    sleep 60 & echo $! > ${file}.pid; echo "$A" >> ${file}; wait`
  const args = ['run', '--watch', '--redact', '--interval', '1s', '--', 'sh', '-c', script]
  const running = vault(args, projectOf(server.url))
  await until(() => lines(file) === 1)
  server.secrets.set('A', 'last')
  expect((await running).status).toBe(6)
})

test('--watch keeps the offline copy up to date', async () => {
  const server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', 'kept')
  const home = newFolder()
  const env = { ...projectOf(server.url), HOME: home }
  const [file, stop] = [newFile(), newFile()]
  const script = `echo started >> ${file}; while [ ! -e ${stop} ]; do sleep 0.1; done`
  const options = ['--offline-fallback', '--watch', '--interval', '1s']
  const running = vault(['run', ...options, '--', 'sh', '-c', script], env)
  await until(() => lines(file) === 1)
  // Watch for longer than the --max-age below.
  const seen = server.seen.length
  await until(() => server.seen.length >= seen + 4)
  writeFileSync(stop, '')
  await running
  await server[Symbol.asyncDispose]()
  const args = ['run', '--offline-fallback', '--max-age', '3s', '--', 'sh', '-c', 'exit 7']
  expect(await vault(args, env)).toMatchObject({ status: 7, err: expect.stringContaining('using the offline copy') })
})

test('an interval longer than a timer supports does not become 1 ms', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.isOld = true
  const client = createVaultClient({ url: server.url, project: 'shop', privateKey: privateJwk })
  const watch = client.watch('production', { intervalMs: 60 * 86_400_000, onChange: () => undefined })
  await delay(200)
  await watch.stop()
  // The one that an older vault does not know, and a fetch.
  expect(server.seen).toHaveLength(2)
})

test('--watch picks up a key that is replaced in its file', async () => {
  const next = generateKeyPair()
  await using old = await startFakeVault(publicKeyHex)
  await using server = await startFakeVault(next.publicKeyHex)
  const [key, file] = [join(newFolder(), 'key.json'), newFile()]
  writeFileSync(key, privateJwk, { mode: 0o600 })
  old.secrets.set('A', 'first')
  server.secrets.set('A', 'last')
  // Both vaults have one address, so that the accepted key changes.
  let current = old.url
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(current).port), '127.0.0.1')
    socket.pipe(upstream).pipe(socket)
    for (const each of [socket, upstream]) each.on('error', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`
  const script = `require('fs').appendFileSync('${file}', process.env.A + '\\n')
    if (process.env.A === 'last') process.exit(5); setInterval(() => {}, 1000)`
  const env = { VAULT_URL: url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY_FILE: key }
  const running = vault(['run', '--watch', '--interval', '1s', '--', 'node', '-e', script], env)
  await until(() => lines(file) === 1)
  current = server.url
  old.answerWith(401, '{"error":"invalid_signature"}')
  const seen = old.seen.length
  await until(() => old.seen.length >= seen)
  await delay(3_500)
  writeFileSync(key, next.privateJwk)
  const { status, err } = await running
  proxy.close()
  expect(status).toBe(5)
  expect(err.match(/invalid_signature|private key does not belong/g)).toHaveLength(1)
}, 60_000)
