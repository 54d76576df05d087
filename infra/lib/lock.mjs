import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { identityOf, isSameProcess } from '../../packages/dev-env/src/processes/identity.mjs'
import { codeOf } from '../../packages/dev-env/src/processes/stop.mjs'

/**
 * The process that has the lock. The lock is a symbolic link with this as JSON as its target: a link is created with its
 * content, so no process reads a lock that is partly written.
 *
 * @typedef {{ pid: number, identity?: string | undefined, stopping: boolean }} Holder
 */

/** How long another run may take to notice that its npm was killed, and how long it may take to stop. */
const NOTICE_MS = 2500
const STOP_MS = 40_000

/**
 * Makes this process the only one that uses a folder. The lock of a killed process stays behind; the next run takes it over,
 * because the lock identifies the process and not only its pid.
 *
 * @param {string} folder
 * @param {{ onWait?: (pid: number) => void, noticeMs?: number, stopMs?: number }} [options] `onWait` is called if this run
 *   waits for another one that is stopping
 * @throws {Fault} naming the process that uses the folder
 */
export async function acquireLock(folder, { onWait = () => undefined, noticeMs = NOTICE_MS, stopMs = STOP_MS } = {}) {
  const file = join(folder, 'lock')
  const started = Date.now()
  const mine = { pid: process.pid, identity: identityOf(process.pid), stopping: false }
  let isReported = false
  while (!claim(file, mine)) {
    const holder = read(file)
    if (holder === undefined || !isSameProcess(holder)) {
      removeStale(file, holder)
      continue
    }
    if (holder.stopping && !isReported) onWait(holder.pid)
    isReported ||= holder.stopping
    if (Date.now() - started > (holder.stopping ? stopMs : noticeMs))
      throw new Fault(
        `Another start is running: process ${holder.pid} uses ${folder}. Stop it with Ctrl-C or \`kill ${holder.pid}\`. ` +
          'To run a second one, set DATA_DIR, VAULT_PORT and TRACKER_PORT.',
      )
    await sleep(100)
  }
  return {
    /** Makes a run that starts now wait. */
    stopping: () => {
      const draft = `${file}.${process.pid}`
      claim(draft, { ...mine, stopping: true })
      renameSync(draft, file)
    },
    release: () => rmSync(file, { force: true }),
  }
}

/** Takes the lock, unless it exists. @param {string} file @param {Holder} holder */
function claim(file, holder) {
  try {
    symlinkSync(JSON.stringify(holder), file)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/** @param {string} file @returns {Holder | undefined} */
function read(file) {
  try {
    return JSON.parse(readlinkSync(file))
  } catch {
    return undefined
  }
}

/**
 * Only one of two processes that find a stale lock moves it away. If that was the new lock of the other one, it is put back.
 *
 * @param {string} file
 * @param {Holder | undefined} seen
 */
function removeStale(file, seen) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  const moved = read(aside)
  rmSync(aside, { force: true })
  if (moved !== undefined && moved.identity !== seen?.identity) claim(file, moved)
}
