import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { temporaryFolder } from '@vault-and-tracker/dev-env'
import { admin, createProject } from './support/client.ts'
import { COMMAND, type CommandWorld, startForCommand } from './support/command.ts'

// `vault run --watch` as a separate process, which receives signals.

let world: CommandWorld

beforeAll(async () => {
  world = await startForCommand()
})

afterAll(() => world.vault.stop())

const newFile = (): string => join(temporaryFolder('command-line'), 'seen')

/** Waits for another process. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await delay(10)
}
const lines = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)

function runWatching(script: string): { status: Promise<unknown>; kill: (signal: NodeJS.Signals) => boolean } {
  const [node, ...args] = [...COMMAND, 'run', '--watch', '--interval', '1s', '--', process.execPath, '-e', script]
  const child = spawn(node, args, { env: world.env, stdio: 'ignore', detached: true })
  return { status: once(child, 'exit').then(([status]) => status as unknown), kill: (signal) => child.kill(signal) }
}

test('does not forward an earlier signal to a restarted command', async () => {
  await world.client.put('A', 'first')
  const file = newFile()
  const script = `process.on('SIGUSR2', () => require('fs').appendFileSync('${file}', 'signal\\n'))
    require('fs').appendFileSync('${file}', process.env.A + '\\n')
    if (process.env.A === 'last') setTimeout(() => process.exit(3), 300); else setInterval(() => {}, 1000)`
  const running = runWatching(script)
  await until(() => lines(file) === 1)
  running.kill('SIGUSR2')
  await until(() => lines(file) === 2)
  await world.client.put('A', 'last')
  expect(await running.status).toBe(3)
  expect(readFileSync(file, 'utf8')).toBe('first\nsignal\nlast\n')
})

test('does not restart a command that was asked to end', async () => {
  await world.client.put('A', 'first')
  const file = newFile()
  const script = `process.on('SIGTERM', () => setTimeout(() => process.exit(4), 2500))
    require('fs').appendFileSync('${file}', process.env.A + '\\n'); setInterval(() => {}, 1000)`
  const running = runWatching(script)
  await until(() => lines(file) === 1)
  running.kill('SIGTERM')
  await world.client.put('A', 'last')
  expect(await running.status).toBe(4)
  expect(readFileSync(file, 'utf8')).toBe('first\n')
})

test('restarts when a parent environment or a referenced secret changes at another replica', async () => {
  const { url } = world.vault
  await createProject(url, 'database')
  await admin(url, 'POST', '/projects/database/reference-rules', { project: 'shop' })
  const replica = await world.vault.replica()
  const put = (project: string, env: string, key: string, value: string, references = false) =>
    admin(replica.url, 'PUT', `/projects/${project}/secrets`, { env, key, value, references })
  await put('database', 'main', 'HOST', 'one')
  await put('shop', 'common', 'A', 'first')
  await put('shop', 'common', 'DB', '${database.main.HOST}', true)
  const [version] = (await admin(url, 'GET', '/projects/shop/secrets?env=production')).body as { id: string }[]
  if (version !== undefined) await admin(url, 'DELETE', `/secrets/${version.id}`)
  await admin(url, 'PUT', '/projects/shop/environments/production', { parent: 'common' })
  const file = newFile()
  const script = `require('fs').appendFileSync('${file}', process.env.A + ' ' + process.env.DB + '\\n')
    if (process.env.DB === 'two') setTimeout(() => process.exit(5), 100); else setInterval(() => {}, 1000)`
  const running = runWatching(script)
  await until(() => lines(file) === 1)
  await put('shop', 'common', 'A', 'second')
  await until(() => lines(file) === 2)
  await put('database', 'main', 'HOST', 'two')
  expect(await running.status).toBe(5)
  expect(readFileSync(file, 'utf8')).toBe('first one\nsecond one\nsecond two\n')
  await replica.stop()
})
