import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameProcess } from './identity.mjs'
import { stopProcess } from './stop.mjs'

/**
 * @typedef {import('./identity.mjs').SeenProcess} SeenProcess
 * @typedef {import('./stop.mjs').Stoppable} Stoppable
 */

/**
 * Notes a running process beside its data, for a later run that may find it still there.
 *
 * @param {string} pidFile
 * @param {Stoppable} entry
 * @param {SeenProcess} reaper
 */
export function rememberProcess(pidFile, entry, reaper) {
  writeFileSync(pidFile, `${JSON.stringify({ process: entry, reaper })}\n`, { mode: 0o600 })
}

/**
 * Removes the note, unless a newer process has written its own over it.
 *
 * @param {string} pidFile
 * @param {Stoppable} entry
 */
export function forgetProcess(pidFile, entry) {
  if (readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
}

/**
 * Stops what the last run left behind. The note holds the moment the process started, so another process that has got
 * the same pid since is left alone. While the last run's reaper lives, the work is the reaper's and this only waits.
 *
 * @param {string} pidFile
 * @returns {Promise<boolean>} whether there was something to stop
 */
export async function stopLeftover(pidFile) {
  const note = readNote(pidFile)
  if (note === undefined) return false
  const patience = Date.now() + note.process.graceMs + 10_000
  const wasThere = isSameProcess(note.process)
  while (isSameProcess(note.process) && isSameProcess(note.reaper) && Date.now() < patience) await sleep(50)
  await stopProcess(note.process)
  rmSync(pidFile, { force: true })
  return wasThere
}

/** @param {string} pidFile @returns {{ process: Stoppable, reaper: SeenProcess } | undefined} */
function readNote(pidFile) {
  try {
    return JSON.parse(readFileSync(pidFile, 'utf8'))
  } catch {
    return undefined
  }
}
