import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { temporaryFolder } from '@vault-and-tracker/dev-env'
import { COMMAND, type CommandWorld, startForCommand } from './support/command.ts'

// The `vault` command with pipes, full disks and terminals.
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
