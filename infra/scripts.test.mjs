// The parts of `npm start` and `npm test` that need no servers. Run with `node --test infra/scripts.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf } from '../packages/dev-env/reaper/identity.mjs'
import { commandsToTry, shellWord } from './lib/banner.mjs'
import { capture, run } from './lib/command.mjs'
import { dependencyStamp } from './lib/dependencies.mjs'
import { isNewEnough } from './lib/node-version.mjs'
import { requireFreePorts } from './lib/ports.mjs'
import { createProgress, seconds } from './lib/progress.mjs'
import { readSettings } from './lib/settings.mjs'
import { CLIENTS, REDIS, remedy } from './lib/system-packages.mjs'
import { gatesOf, jestResult, sum, tapResult } from './lib/test-results.mjs'

const folder = mkdtempSync(join(tmpdir(), 'scripts-test-'))
after(() => rmSync(folder, { recursive: true }))

test('Node 20.19 is new enough, and everything before it is not', () => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) assert.ok(isNewEnough(version), version)
  for (const version of ['20.18.9', '18.20.4', '19.99.99']) assert.ok(!isNewEnough(version), version)
})

test('every wrong setting is told at once, and no value of a URL is repeated', () => {
  const env = { VAULT_PORT: 'x', TRACKER_PORT: '70000', DATABASE_URL: 'mysql://root:secret@h/d', REDIS_URL: 'h:6379' }
  assert.throws(
    () => readSettings(env),
    ({ message }) => {
      for (const name of Object.keys(env)) assert.match(message, new RegExp(name))
      assert.doesNotMatch(message, /secret/)
      return true
    },
  )
})

test('an empty variable is one that is not set', () => {
  const settings = readSettings({ VAULT_PORT: '', TRACKER_PORT: '', DATABASE_URL: '', REDIS_URL: '', DATA_DIR: '' })
  const { vaultPort, trackerPort, databaseUrl, redisUrl } = settings
  assert.deepEqual([vaultPort, trackerPort, databaseUrl, redisUrl], [4200, 6969, undefined, undefined])
  assert.match(settings.dataDir, /\/\.data$/)
})

test('DATA_DIR is seen from where npm was called', () => {
  assert.equal(readSettings({ DATA_DIR: 'here', INIT_CWD: '/somewhere' }).dataDir, '/somewhere/here')
})

test('a port that is taken is refused with the variable that helps', async () => {
  const stranger = createServer().listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = stranger.address()
  await assert.rejects(requireFreePorts({ vaultPort: port, trackerPort: 0 }), {
    message: `The vault can not listen on port ${port}: another program has it. Set VAULT_PORT to another port.`,
  })
  await assert.rejects(requireFreePorts({ vaultPort: 0, trackerPort: port }), /Set TRACKER_PORT to another port/)
  stranger.close()
})

test('a step says how long it took, and a long one that it is still at it', async () => {
  const lines = []
  const step = createProgress({ out: { write: (text) => lines.push(text.trim()) }, tickMs: 20 })
  assert.equal(await step('something', () => sleep(70, 'ten')), 'ten')
  assert.match(lines[0], /^… something +[\d.]+ s$/)
  assert.match(lines.at(-1), /^✓ something +[\d.]+ s {2}ten$/)
  await assert.rejects(
    step('something else', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.match(lines.at(-1), /^✗ something else/)
  assert.deepEqual([400, 9949, 12_400, 65_000].map(seconds), ['0.4 s', '9.9 s', '12 s', '1 min 5 s'])
})

test('a command that fails is told with everything it wrote, one that hangs is ended with its children', async () => {
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

test('a user who may not install is told what to install in one sentence', () => {
  const sentence = remedy([REDIS], true)
  assert.match(sentence, /sudo apt-get install redis-server.*docker compose up[^.]*\.$/)
  assert.match(remedy([REDIS], false), /install redis-server or valkey-server/)
  assert.match(remedy([REDIS, ...CLIENTS], true), /\nAll at once: sudo apt-get install redis-server aria2 [^.]*$/)
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

const demo = {
  vault: { url: 'http://127.0.0.1:1', adminToken: 'token', project: 'demo', privateKey: '{}' },
  tracker: {
    url: 'http://127.0.0.1:2',
    users: [{ username: 'alice', password: "it's", passkey: 'ab'.repeat(20), role: 'member' }],
  },
}

test('no printed command holds a passkey, and each is something a shell can read', () => {
  for (const hasCurl of [true, false]) {
    const commands = commandsToTry(demo, '/a folder/data', { hasCurl })
    assert.equal(commands.length, 3)
    for (const [, command] of commands) {
      assert.doesNotMatch(command, /abab/)
      assert.doesNotMatch(command, /\n/)
      assert.equal(spawnSync('sh', ['-n', '-c', command]).status, 0, command)
    }
  }
})

test('words are quoted for the shell where they have to be', () => {
  for (const word of ['plain/path.json', 'a b', "it's", '$HOME', '{"a":"b"}', 'a"b']) {
    const { stdout } = spawnSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })
    assert.equal(stdout, word)
  }
})

test('tests are counted, and a run that failed counts as failed whatever it says', () => {
  const json = { numPassedTests: 5, numFailedTests: 2, numRuntimeErrorTestSuites: 1 }
  assert.deepEqual(jestResult(1, json), { passed: 5, failed: 3 })
  assert.deepEqual(jestResult(1, { ...json, numFailedTests: 0, numRuntimeErrorTestSuites: 0 }), {
    passed: 5,
    failed: 1,
  })
  assert.deepEqual(jestResult(0, undefined), { passed: 0, failed: 1 })
  assert.deepEqual(tapResult(1, '# tests 4\n# pass 3\n# fail 1\n# cancelled 0\n'), { passed: 3, failed: 1 })
  assert.deepEqual(tapResult(1, ''), { passed: 0, failed: 1 })
  assert.deepEqual(sum([jestResult(0, { numPassedTests: 1, numFailedTests: 0, numRuntimeErrorTestSuites: 0 })]), {
    passed: 1,
    failed: 0,
  })
})

test('the gates are those of `pnpm check`', () => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'))
  const gates = gatesOf(scripts.check)
  assert.deepEqual(gates, ['format', 'types', 'lint', 'arch', 'dead'])
  for (const gate of gates) assert.ok(scripts[gate])
})
