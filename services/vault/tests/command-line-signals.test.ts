import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { requireProgram } from '@vault-and-tracker/dev-env'
import { COMMAND, type CommandWorld, startForCommand } from './support/command.ts'

let world: CommandWorld

beforeAll(async () => {
  world = await startForCommand()
  await world.client.put('A', '1')
})

afterAll(() => world.vault.stop())

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
