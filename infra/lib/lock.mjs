import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf, isSameProcess } from '../../packages/dev-env/reaper/identity.mjs'
import { Fault } from './fault.mjs'

/** How long a run that has lost its terminal may take to notice, and how long one that stops may take to be gone. */
const NOTICE_MS = 2500
const STOP_MS = 40_000

/**
 * Makes this process the only one that works in a folder. One that was killed leaves its lock behind; since the lock
 * says which process it is, and not only its number, it is then taken over.
 *
 * @param onWait told when another run is on its way out and we wait for it
 */
export async function acquireLock(folder, { onWait = () => {}, noticeMs = NOTICE_MS, stopMs = STOP_MS } = {}) {
  const file = join(folder, 'lock')
  const started = Date.now()
  const mine = { pid: process.pid, identity: identityOf(process.pid), stopping: false }
  let told = false
  while (!claim(file, mine)) {
    const holder = read(file)
    const waited = Date.now() - started
    if (holder !== undefined && isSameProcess(holder)) {
      if (holder.stopping && !told) onWait(holder.pid)
      told ||= holder.stopping
      if (waited > (holder.stopping ? stopMs : noticeMs)) throw new Fault(inUse(folder, holder.pid))
      await sleep(100)
    } else {
      removeStale(file, holder)
    }
  }
  const rewrite = (content) => writeFileSync(file, JSON.stringify(content), { mode: 0o600 })
  return {
    /** Tells a run that comes meanwhile that waiting is worth it. */
    stopping: () => rewrite({ ...mine, stopping: true }),
    release: () => rmSync(file, { force: true }),
  }
}

function inUse(folder, pid) {
  return (
    `It is running already: process ${pid} works in ${folder}. Stop it with Ctrl-C there, or \`kill ${pid}\`; ` +
    'for a second one beside it set DATA_DIR, VAULT_PORT and TRACKER_PORT.'
  )
}

/** A link appears with its content or not at all, so nobody ever reads a lock that is half written. */
function claim(file, mine) {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Of two that find the same stale lock one moves it away; if what it moved was a living one's, it is put back. */
function removeStale(file, seen) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  const moved = read(aside)
  if (moved !== undefined && moved.identity !== seen?.identity) {
    try {
      linkSync(aside, file)
    } catch {}
  }
  rmSync(aside, { force: true })
}
