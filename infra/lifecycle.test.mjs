// Who runs, who waits and how it ends. Run with `node --test infra/lifecycle.test.mjs`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shellWord } from './lib/banner.mjs'
import { acquireLock } from './lib/lock.mjs'
import { createShutdown } from './lib/shutdown.mjs'

const folder = mkdtempSync(join(tmpdir(), 'lifecycle-test-'))
after(() => rmSync(folder, { recursive: true }))

/** A process that holds the lock of a folder, for as long as it lives. */
async function lockHolder(dataDir) {
  const code = `import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, 'lib/lock.mjs'))}
    const lock = await acquireLock(process.argv[1], { noticeMs: 0 })
    console.log('locked')
    process.stdin.on('data', () => { lock.stopping(); console.log('stopping'); setTimeout(() => { lock.release(); process.exit() }, 500) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

test('of two in one folder the second is told who the first is', async () => {
  const dataDir = join(folder, 'locked')
  mkdirSync(dataDir)
  const holder = await lockHolder(dataDir)
  await assert.rejects(acquireLock(dataDir, { noticeMs: 150 }), new RegExp(`process ${holder.pid} works in`))
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = await acquireLock(dataDir, { noticeMs: 150 })
  lock.release()
  assert.ok(!existsSync(join(dataDir, 'lock')))
})

test('a run that is stopping is waited for', async () => {
  const dataDir = join(folder, 'stopping')
  mkdirSync(dataDir)
  const holder = await lockHolder(dataDir)
  holder.stdin.write('stop\n')
  await once(holder.stdout, 'data')
  let waitedFor
  const lock = await acquireLock(dataDir, { noticeMs: 0, onWait: (pid) => (waitedFor = pid) })
  assert.equal(waitedFor, holder.pid)
  lock.release()
})

test('the number of a stranger in a stale lock is no reason to wait', async () => {
  const dataDir = join(folder, 'stale')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'lock'), JSON.stringify({ pid: process.ppid, identity: 'before the last boot' }))
  const lock = await acquireLock(dataDir, { noticeMs: 0 })
  lock.release()
})

test('of many that find a stale lock exactly one gets it', async () => {
  const dataDir = join(folder, 'race')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'lock'), JSON.stringify({ pid: process.ppid, identity: 'before the last boot' }))
  const code = `import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, 'lib/lock.mjs'))}
    await acquireLock(process.argv[1], { noticeMs: 300 }).catch(() => process.exit(7))
    process.stdin.on('end', () => process.exit(0)).resume()`
  const racers = Array.from({ length: 4 }, () => spawn(process.execPath, ['--input-type=module', '-e', code, dataDir]))
  const codes = []
  const ends = racers.map(async (one) => codes.push((await once(one, 'exit'))[0]))
  while (codes.length < 3) await sleep(20)
  // Who got it keeps it until nobody else is left who wants it.
  for (const one of racers) one.stdin.end()
  await Promise.all(ends)
  assert.deepEqual(codes, [7, 7, 7, 0])
})

function shutdownOf({ ended = [], stop } = {}) {
  const seen = { said: [], codes: [], killed: 0 }
  const shutdown = createShutdown({
    stop: stop ?? (async () => ended),
    kill: async () => void (seen.killed += 1),
    say: (text) => seen.said.push(text),
    exit: (code) => seen.codes.push(code),
  })
  return { shutdown, seen }
}

test('a clean stop is success, one that had to be forced is not', async () => {
  const clean = shutdownOf({ ended: [{ name: 'vault', code: 0, signal: null }] })
  await clean.shutdown.onSignal('SIGINT')
  assert.deepEqual(clean.seen.codes, [0])
  const forced = shutdownOf({ ended: [{ name: 'vault', code: null, signal: 'SIGKILL' }] })
  await forced.shutdown.onSignal('SIGINT')
  assert.deepEqual(forced.seen.codes, [1])
  assert.match(forced.seen.said.join('\n'), /vault did not stop in time and was killed/)
})

test("the signal that npm repeats is not the user's second one", async () => {
  let stopped
  const { shutdown, seen } = shutdownOf({ stop: () => new Promise((resolve) => (stopped = () => resolve([]))) })
  const first = shutdown.onSignal('SIGINT')
  await shutdown.onSignal('SIGINT')
  assert.equal(seen.killed, 0)
  await sleep(900)
  await shutdown.onSignal('SIGINT')
  assert.equal(seen.killed, 1)
  assert.equal(seen.codes[0], 130)
  stopped()
  await first
})

test('the end of npm is noticed, also behind the shell it runs scripts with', async () => {
  const watcher = `import { watchParent } from ${JSON.stringify(join(import.meta.dirname, 'lib/shutdown.mjs'))}
    watchParent(() => { console.log('orphaned'); process.exit() }, { env: { npm_lifecycle_event: 'start' }, intervalMs: 20 })
    console.log('watching'); setInterval(() => {}, 1000)`
  const node = `${shellWord(process.execPath)} --input-type=module -e ${shellWord(watcher)}`
  for (const script of [`${node}; true`, `sh -c ${shellWord(`${node}; true`)}; true`]) {
    // This shell stands for npm: it is killed while what it has started goes on.
    const npm = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(npm.stdout, 'data')
    npm.kill('SIGKILL')
    const [said] = await once(npm.stdout, 'data')
    assert.match(said.toString(), /orphaned/)
  }
})
