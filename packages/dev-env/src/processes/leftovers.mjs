import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameProcess } from './identity.mjs'
import { stopProcess } from './stop.mjs'

/**
 * @typedef {import('./identity.mjs').SeenProcess} SeenProcess
 * @typedef {import('./stop.mjs').Stoppable} Stoppable
 */

/**
 * Writes a note of a running process beside its data, for a later run that may have to stop it.
 *
 * @param {string} pidFile
 * @param {Stoppable} entry
 * @param {SeenProcess} reaper
 */
export function rememberProcess(pidFile, entry, reaper) {
  writeFileSync(pidFile, `${JSON.stringify({ process: entry, reaper })}\n`, { mode: 0o600 })
}

/**
 * Removes the note, unless a newer process has replaced it.
 *
 * @param {string} pidFile
 * @param {Stoppable} entry
 */
export function forgetProcess(pidFile, entry) {
  if (readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
}

/**
 * Stops what the last run left running. The note contains the time at which the process started, so another process with
 * the same pid is not stopped. While the reaper of the last run is running, it stops the process, and this only waits.
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
