import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameProcess } from './identity.mjs'
import { stopProcess } from './stop.mjs'

/** Notes a running process beside its data, for a later run that may find it still there. */
export function rememberProcess(pidFile, entry, reaper) {
  writeFileSync(pidFile, `${JSON.stringify({ process: entry, reaper })}\n`, { mode: 0o600 })
}

/** Removes the note, unless a newer process has written its own over it. */
export function forgetProcess(pidFile, entry) {
  if (readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
}

/**
 * Stops what the last run left behind. The note holds the moment the process started, so a stranger that has got the
 * same pid since is left alone. While the last run's reaper lives, the work is the reaper's and we only wait.
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

function readNote(pidFile) {
  try {
    return JSON.parse(readFileSync(pidFile, 'utf8'))
  } catch {
    return undefined
  }
}
