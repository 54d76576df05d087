import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { admin, createProject } from './support/client.ts'
import { COMMAND, type CommandWorld, startForCommand } from './support/command.ts'

// The `vault` command as a process, with pipes, full disks and terminals.
const VAULT = COMMAND.map((word) => `"${word}"`).join(' ')

let world: CommandWorld

beforeAll(async () => {
  world = await startForCommand()
  // More than the buffer of a pipe.
  await world.client.put('LARGE', `first line\n${'x'.repeat(65_000)}`)
  await world.client.put('LARGER', 'y'.repeat(65_000))
})

afterAll(() => world.vault.stop())

async function bash(script: string, variables: NodeJS.ProcessEnv = {}): Promise<{ out: string; err: string }> {
  const child = spawn('bash', ['-c', script.replaceAll('vault ', `${VAULT} `)], {
    env: { ...world.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { out, err }
}

test('exits silently when its reader closes', async () => {
  expect(await bash('vault get | head -c 10 >/dev/null; echo "${PIPESTATUS[0]}"')).toEqual({ out: '141\n', err: '' })
})

test('reports that output cannot be written', async () => {
  const { out, err } = await bash('vault get > /dev/full; echo "$?"')
  expect([out, err]).toEqual(['1\n', 'vault: cannot write to standard output: ENOSPC\n'])
})

test('exits with a status even if the error cannot be printed', async () => {
  expect((await bash('vault get NONE 2> /dev/full; echo "$?"')).out).toBe('1\n')
})

test('ends like the command itself if its output is not read', async () => {
  const script = 'vault run --redact -- sh -c \'while echo line; do :; done\' | head -1; echo "${PIPESTATUS[0]}"'
  expect((await bash(script)).out).toMatch(/^line\n(141|1)\n$/)
})

test('refuses several lines pasted at a prompt', async () => {
  const driver = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b''
while b'Value of PASTED: ' not in seen: seen += os.read(fd, 4096)
os.write(fd, b'line one\\nline two\\n')
while True:
    try: chunk = os.read(fd, 4096)
    except OSError: break
    if not chunk: break
    seen += chunk
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode())
`
  const file = join(temporaryFolder('command-line'), 'driver.py')
  writeFileSync(file, driver)
  const { out } = await bash(`python3 ${file} vault set PASTED`)
  expect(out).toMatch(/^1 Value of PASTED: \s+vault: .*several lines/)
  expect(await world.client.get('PASTED')).toBeUndefined()
})

describe('signals', () => {
  beforeAll(() => world.client.put('A', '1'))

  /** A program that counts SIGINT, and prints the number when it ends. */
  const COUNTER = `let n = 0; process.on('SIGINT', () => { n++ }); process.on('SIGTERM', () => { console.log('signals ' + n); process.exit(0) })
  setInterval(() => {}, 1000); console.log('ready')`

  test('delivers Ctrl-C in a terminal once', async () => {
    // Python's pty gives the process a controlling terminal, like a shell.
    const driver = `
import os, pty, sys, time, signal
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b''
def until(word):
    global seen
    while word not in seen:
        try: chunk = os.read(fd, 4096)
        except OSError: sys.exit(seen.decode())
        seen += chunk
until(b'ready')
os.write(fd, b'\\x03')
time.sleep(0.5)
os.kill(pid, signal.SIGTERM)
until(b'signals ')
until(b'\\n')
print(seen.decode())
os.waitpid(pid, 0)
`
    const args = ['-c', driver, ...COMMAND, 'run', '--', process.execPath, '-e', COUNTER]
    const child = spawn(await requireProgram('python3'), args, { env: world.env })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)))
    await new Promise((resolve) => child.once('close', resolve))
    expect(out).toContain('signals 1')
  })

  test('forwards SIGINT without a terminal', async () => {
    const args = [...COMMAND, 'run', '--', process.execPath, '-e', COUNTER]
    const [command = '', ...rest] = args
    // In its own session, the process has no terminal.
    const child = spawn(command, rest, { env: world.env, detached: true })
    let out = ''
    child.stderr.on('data', (chunk) => (out += String(chunk)))
    child.stdout.on('data', (chunk) => {
      const wasReady = out.includes('ready')
      out += String(chunk)
      if (wasReady || !out.includes('ready')) return
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGTERM'), 300)
    })
    await new Promise((resolve) => child.once('close', resolve))
    expect(out).toContain('signals 1')
  })
})

describe('run --watch', () => {
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
    type Listed = { id: string; key: string }
    const listed = (await admin(url, 'GET', '/projects/shop/secrets?env=production')).body as Listed[]
    const own = listed.find((secret) => secret.key === 'A')
    if (own !== undefined) await admin(url, 'DELETE', `/secrets/${own.id}`)
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
})
