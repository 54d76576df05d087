// The part of `npm start` and `npm test` that runs before dependencies are installed. Run with `node --test
// infra/scripts.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, run } from '../packages/dev-env/src/processes/command.mjs'
import { identityOf } from '../packages/dev-env/src/processes/identity.mjs'
import { isNewEnough, requirePlainPath } from './lib/preflight.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { dependencyStamp } from './lib/workspace.mjs'

const folder = mkdtempSync(join(tmpdir(), 'scripts-test-'))
chmodSync(folder, 0o777)
after(() => rmSync(folder, { recursive: true }))

test('Node 20.19 is the oldest supported version', () => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) assert.ok(isNewEnough(version), version)
  for (const version of ['20.18.9', '18.20.4', '19.99.99']) assert.ok(!isNewEnough(version), version)
})

test('a folder from which PostgreSQL cannot be started is refused with the remedy', () => {
  for (const path of ['/home/a$b/clone', '/home/a`b', '/home/a"b', '/home/a\\b'])
    assert.throws(() => requirePlainPath(path), /^Fault: PostgreSQL cannot be started from .* Move the folder/, path)
  assert.doesNotThrow(() => requirePlainPath("/home/it's (a) + clone, 100%"))
})

test('a step reports its time and result, and a failed step its error', async () => {
  /** @type {string[]} */
  const lines = []
  const step = createProgress({ write: (text) => lines.push(text.trim()) })
  assert.equal(await step('something', () => sleep(10, 'ten')), 'ten')
  assert.match(lines[0] ?? '', /^✓ something +[\d.]+ s {2}ten$/)
  await assert.rejects(
    step('something else', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.match(lines.at(-1) ?? '', /^✗ something else/)
  assert.deepEqual([400, 9949, 12_400, 65_000].map(seconds), ['0.4 s', '9.9 s', '12 s', '1 min 5 s'])
})

test('on a terminal a running step is one line that is overwritten', async () => {
  let screen = ''
  const out = { isTTY: true, columns: 30, write: (/** @type {string} */ text) => (screen += text) }
  await createProgress(out)('x'.repeat(100), () => sleep(5))
  const [, running = ''] = screen.split('\u001b[2K')
  assert.ok(running.startsWith('…') && running.replaceAll('\r', '').length < 30)
  assert.match(screen, /\r\u001b\[2K✓ x+ .*\n$/)
})

test('a command that fails is reported with its whole output, one that hangs is killed with its children', async () => {
  await assert.rejects(
    run('sh', ['-c', 'echo to out; echo to err >&2; exit 3']),
    /exit code 3\n\n(to out\nto err|to err\nto out)$/,
  )
  await assert.rejects(run('no-such-program', []), /no-such-program could not be started/)
  const { code, output } = await capture('sh', ['-c', 'sleep 60 & echo $!; wait'], { timeoutMs: 200 })
  assert.equal(code, 1)
  assert.match(output, /longer than 0\.2 s/)
  const sleeper = Number(output.split('\n')[0])
  while (identityOf(sleeper) !== undefined) await sleep(5)
})

test('a missing program is one sentence with its package, for a user who may not install it', () => {
  const file = join(import.meta.dirname, '../packages/dev-env/src/processes/programs.mjs')
  const code = `const { requireProgram } = await import(${JSON.stringify(file)})
    if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534) }
    await requireProgram('aria2c-of-no-machine', { debianPackage: 'aria2' }).catch((error) => console.log(error.name, error.message))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { PATH: folder },
  })
  assert.match(stdout, /^Fault aria2c-of-no-machine is not installed: sudo apt-get install aria2\.\n$/)
})

test('a change of any manifest asks for an install', () => {
  const root = join(folder, 'workspace')
  for (const part of ['packages/a', 'services']) mkdirSync(join(root, part), { recursive: true })
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', 'packages/a/package.json']) {
    writeFileSync(join(root, file), '{}')
  }
  const before = dependencyStamp(root)
  assert.equal(dependencyStamp(root), before)
  writeFileSync(join(root, 'packages/a/package.json'), '{ }')
  assert.notEqual(dependencyStamp(root), before)
})
