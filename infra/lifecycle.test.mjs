// Who runs, who waits and how it ends. Run with `node --test infra/lifecycle.test.mjs`.
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

/** A process that holds the lock of a folder, for as long as it runs. @param {string} dataDir */
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

test('of two starts in one folder the second names the process of the first', async () => {
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
  /** @type {number | undefined} */
  let waitedFor
  const lock = await acquireLock(dataDir, { noticeMs: 0, onWait: (pid) => (waitedFor = pid) })
  assert.equal(waitedFor, holder.pid)
  lock.release()
})

test('a stale lock with the process number of another program is taken over at once', async () => {
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
  /** @type {unknown[]} */
  const codes = []
  const ends = racers.map(async (one) => codes.push((await once(one, 'exit'))[0]))
  while (codes.length < 3) await sleep(20)
  // Who got it keeps it until nobody else is left who wants it.
  for (const one of racers) one.stdin.end()
  await Promise.all(ends)
  assert.deepEqual(codes, [7, 7, 7, 0])
})

test('the end of npm is noticed, also through the shell that runs its scripts', async () => {
  const watcher = `import { onInterrupt } from ${JSON.stringify(join(import.meta.dirname, 'lib/interrupt.mjs'))}
    onInterrupt((reason) => { if (reason === 'npm is gone') console.log('orphaned'); process.exit() })
    console.log('watching'); setInterval(() => {}, 1000)`
  // The watcher's code goes through the environment, so that no shell has to quote it.
  const env = { ...process.env, npm_lifecycle_event: 'start', NODE: process.execPath, WATCHER: watcher }
  const node = '"$NODE" --input-type=module -e "$WATCHER"; true'
  for (const script of [node, `sh -c '${node}'; true`]) {
    // This shell stands for npm: it is killed while what it has started goes on.
    const npm = spawn('sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(npm.stdout, 'data')
    npm.kill('SIGKILL')
    const [said] = await once(npm.stdout, 'data')
    assert.match(String(said), /orphaned/)
  }
})
