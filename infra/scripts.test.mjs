// The parts of `npm start` and `npm test` that need no servers. Run with `node --test infra/scripts.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, run } from '../packages/dev-env/src/processes/command.mjs'
import { identityOf } from '../packages/dev-env/src/processes/identity.mjs'
import { dataDirectory } from './lib/data-directory.mjs'
import { isNewEnough } from './lib/node-version.mjs'
import { requirePlainPath } from './lib/plain-path.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { REDIS, remedy, TEST_PROGRAMS } from './lib/system-packages.mjs'
import { dependencyStamp } from './lib/workspace.mjs'

const folder = mkdtempSync(join(tmpdir(), 'scripts-test-'))
chmodSync(folder, 0o777)
after(() => rmSync(folder, { recursive: true }))

test('Node 20.19 is new enough, and everything before it is not', () => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) assert.ok(isNewEnough(version), version)
  for (const version of ['20.18.9', '18.20.4', '19.99.99']) assert.ok(!isNewEnough(version), version)
})

test('DATA_DIR is relative to the folder where npm was called', () => {
  assert.equal(dataDirectory({ DATA_DIR: 'here', INIT_CWD: '/somewhere' }), '/somewhere/here')
  assert.match(dataDirectory({ DATA_DIR: '' }), /\/\.data$/)
})

test('a file of the data that the user may not change is one sentence that names it', () => {
  const data = join(folder, 'data')
  mkdirSync(join(data, 'logs'), { recursive: true })
  for (const one of [data, join(data, 'logs')]) chmodSync(one, 0o777)
  for (const file of ['state.json', 'logs/vault.log']) {
    writeFileSync(join(data, file), '')
    chmodSync(join(data, file), 0o400)
    // Root may write everywhere; what an ordinary user sees is seen by giving up its rights.
    const code = `const { openDataDirectory } = await import(${JSON.stringify(join(import.meta.dirname, 'lib/data-directory.mjs'))})
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534) }
      try { openDataDirectory(${JSON.stringify(data)}) } catch (error) { console.log(error.name, error.message) }`
    const env = { ...process.env, NODE_OPTIONS: '' }
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env,
    })
    assert.equal(stderr, '')
    assert.match(
      stdout,
      new RegExp(`^Fault You may not change ${join(data, file)}: .*set DATA_DIR to another folder\\.\n$`),
    )
    chmodSync(join(data, file), 0o666)
  }
})

test('a folder from which PostgreSQL cannot be started is refused with the remedy', () => {
  for (const path of ['/home/a$b/clone', '/home/a`b', '/home/a"b', '/home/a\\b'])
    assert.throws(() => requirePlainPath(path), /^Fault: PostgreSQL cannot be started from .*: move the folder/, path)
  assert.doesNotThrow(() => requirePlainPath("/home/it's (a) + clone, 100%"))
})

test('a step reports how long it took, and a long one that it is still running', async () => {
  /** @type {string[]} */
  const lines = []
  const step = createProgress({ out: { write: (text) => lines.push(text.trim()) }, tickMs: 20 })
  assert.equal(await step('something', () => sleep(70, 'ten')), 'ten')
  assert.match(lines[0] ?? '', /^… something +[\d.]+ s$/)
  assert.match(lines.at(-1) ?? '', /^✓ something +[\d.]+ s {2}ten$/)
  await assert.rejects(
    step('something else', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.match(lines.at(-1) ?? '', /^✗ something else/)
  assert.deepEqual([400, 9949, 12_400, 65_000].map(seconds), ['0.4 s', '9.9 s', '12 s', '1 min 5 s'])
})

test('of steps at the same time each says how far it is; on a terminal in one line that fits', async () => {
  /** @type {string[]} */
  const lines = []
  const elsewhere = createProgress({ out: { write: (text) => lines.push(text.trim()) }, tickMs: 20 })
  let done = 1
  await Promise.all([
    elsewhere(
      'one',
      () => sleep(70),
      () => `${done++} of 9 files`,
    ),
    elsewhere('two', () => sleep(50)),
  ])
  assert.match(lines.join('\n'), /^… one +[\d.]+ s {2}1 of 9 files$/m)
  assert.match(lines.join('\n'), /^✓ two .*\n(?:… .*\n)*✓ one/m)
  let screen = ''
  const out = { isTTY: true, columns: 50, write: (/** @type {string} */ text) => (screen += text) }
  const terminal = createProgress({ out })
  await Promise.all([
    terminal(
      'one',
      () => sleep(20),
      () => 'x'.repeat(100),
    ),
    terminal('two', () => sleep(5)),
  ])
  assert.match(screen, /\u001b\[2K… one 0\.0 s x+/)
  assert.match(screen, /\u001b\[2K✓ two .*\n\r\u001b\[2K… one .*\r\u001b\[2K✓ one .*\n$/)
  const shown = screen.split('\u001b[2K').filter((text) => text.startsWith('…'))
  for (const text of shown) assert.ok(text.replaceAll('\r', '').length < 50, text)
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

test('a user who may not install gets one sentence with what to install', () => {
  const sentence = remedy([REDIS], true)
  assert.match(sentence, /sudo apt-get install redis-server.*docker compose up[^.]*\.$/)
  assert.match(remedy([REDIS], false), /install redis-server or valkey-server/)
  assert.match(remedy([REDIS, ...TEST_PROGRAMS], true), /\nAll at once: sudo apt-get install redis-server aria2 [^.]*$/)
})

test('npm test without Redis is one sentence, for a user who may not install it', () => {
  const code = `const { ensurePrograms, REDIS } = await import(${JSON.stringify(join(import.meta.dirname, 'lib/system-packages.mjs'))})
    if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534) }
    await ensurePrograms([REDIS], (label, work) => work()).catch((error) => console.log(error.name, error.message))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { PATH: folder },
  })
  assert.match(stdout, /^Fault The private Redis needs redis-server, which is not on this machine: [^\n]*\.\n$/)
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
