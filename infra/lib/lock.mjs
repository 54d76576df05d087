import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { identityOf, isSameProcess } from '../../packages/dev-env/src/processes/identity.mjs'
import { codeOf } from '../../packages/dev-env/src/processes/stop.mjs'

/** @typedef {{ pid: number, identity?: string | undefined, stopping: boolean }} Holder */

/** How long to wait for a run whose npm was killed to notice it, and for a run that is stopping to end. */
const NOTICE_MS = 2500
const STOP_MS = 40_000

/**
 * Makes this process the only one that works in a folder. A killed process leaves its lock behind. The lock identifies
 * the process, not only its pid, so the next start can take it over.
 *
 * @param {string} folder
 * @param {{ onWait?: (pid: number) => void, noticeMs?: number, stopMs?: number }} [options] `onWait` is called when
 *   another run is stopping and this one waits for it
 * @throws {Fault} naming the process that works there
 */
export async function acquireLock(folder, { onWait = () => undefined, noticeMs = NOTICE_MS, stopMs = STOP_MS } = {}) {
  const file = join(folder, 'lock')
  const started = Date.now()
  const mine = { pid: process.pid, identity: identityOf(process.pid), stopping: false }
  let reported = false
  while (!claim(file, mine)) {
    const holder = read(file)
    const waited = Date.now() - started
    if (holder !== undefined && isSameProcess(holder)) {
      if (holder.stopping && !reported) onWait(holder.pid)
      reported ||= holder.stopping
      if (waited > (holder.stopping ? stopMs : noticeMs)) throw new Fault(inUse(folder, holder.pid))
      await sleep(100)
    } else {
      removeStale(file, holder)
    }
  }
  return {
    /** Makes a run that starts meanwhile wait. */
    stopping: () => writeFileSync(file, JSON.stringify({ ...mine, stopping: true }), { mode: 0o600 }),
    release: () => rmSync(file, { force: true }),
  }
}

/** @param {string} folder @param {number} pid */
function inUse(folder, pid) {
  return (
    `Another start is running: process ${pid} works in ${folder}. Stop it with Ctrl-C there, or \`kill ${pid}\`; ` +
    'for a second one set DATA_DIR, VAULT_PORT and TRACKER_PORT.'
  )
}

/**
 * A link appears with its content or not at all, so no process reads a lock that is partly written.
 *
 * @param {string} file
 * @param {Holder} mine
 */
function claim(file, mine) {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}

/** @param {string} file @returns {Holder | undefined} */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * Of two processes that find the same stale lock, one moves it away. If the moved lock belongs to a running process, it is
 * put back.
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
  if (moved !== undefined && moved.identity !== seen?.identity) {
    try {
      linkSync(aside, file)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
  rmSync(aside, { force: true })
}
