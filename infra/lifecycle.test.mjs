// The lock of the data directory, and the end of npm. Run with `node --test infra/lifecycle.test.mjs`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { acquireLock } from './lib/lock.mjs'

const folder = mkdtempSync(join(tmpdir(), 'lifecycle-test-'))
after(() => rmSync(folder, { recursive: true }))

/** A process that has the lock of a folder as long as it runs. @param {string} dataDir */
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

test('the second start in a folder names the process of the first', async () => {
  const dataDir = join(folder, 'locked')
  mkdirSync(dataDir)
  const holder = await lockHolder(dataDir)
  await assert.rejects(acquireLock(dataDir, { noticeMs: 150 }), new RegExp(`process ${holder.pid} uses`))
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = await acquireLock(dataDir, { noticeMs: 150 })
  lock.release()
  assert.ok(!existsSync(join(dataDir, 'lock')))
})

test('a start waits for a run that is stopping', async () => {
  const dataDir = join(folder, 'stopping')
  mkdirSync(dataDir)
  const holder = await lockHolder(dataDir)
  holder.stdin.write('stop\n')
  await once(holder.stdout, 'data')
  /** @type {number | undefined} */
  let waitedFor
  const lock = await acquireLock(dataDir, { noticeMs: 0, onWait: (pid) => (waitedFor = pid) })
  assert.equal(waitedFor, holder.pid)
  lock.release()
})

test('a stale lock with the pid of another program is taken over at once', async () => {
  const dataDir = join(folder, 'stale')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'lock'), JSON.stringify({ pid: process.ppid, identity: 'before the last boot' }))
  const lock = await acquireLock(dataDir, { noticeMs: 0 })
  lock.release()
})

test('exactly one of many starts takes over a stale lock', async () => {
  const dataDir = join(folder, 'race')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'lock'), JSON.stringify({ pid: process.ppid, identity: 'before the last boot' }))
  const code = `import { acquireLock } from ${JSON.stringify(join(import.meta.dirname, 'lib/lock.mjs'))}
    await acquireLock(process.argv[1], { noticeMs: 300 }).catch(() => process.exit(7))
    process.stdin.on('end', () => process.exit(0)).resume()`
  const racers = Array.from({ length: 4 }, () => spawn(process.execPath, ['--input-type=module', '-e', code, dataDir]))
  /** @type {unknown[]} */
  const codes = []
  const ends = racers.map(async (one) => codes.push((await once(one, 'exit'))[0]))
  while (codes.length < 3) await sleep(20)
  // The winner keeps it until all others have given up.
  for (const one of racers) one.stdin.end()
  await Promise.all(ends)
  assert.deepEqual(codes, [7, 7, 7, 0])
})

test('notices that npm has ended', async () => {
  const watcher = `import { onInterrupt } from ${JSON.stringify(join(import.meta.dirname, 'lib/interrupt.mjs'))}
    onInterrupt(() => { console.log('orphaned'); process.exit() })
    console.log('watching'); setInterval(() => {}, 1000)`
  // The code goes through the environment, so that no shell has to quote it.
  const env = { ...process.env, npm_lifecycle_event: 'start', NODE: process.execPath, WATCHER: watcher }
  // This shell replaces npm. It is killed while its child is running.
  const npm = spawn('sh', ['-c', '"$NODE" --input-type=module -e "$WATCHER"; true'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(npm.stdout, 'data')
  npm.kill('SIGKILL')
  const [said] = await once(npm.stdout, 'data')
  assert.match(String(said), /orphaned/)
})
