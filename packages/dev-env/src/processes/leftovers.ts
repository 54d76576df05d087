import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameProcess, type SeenProcess } from '../../reaper/identity.mjs'
import { type Stoppable, stopProcess } from '../../reaper/stop.mjs'

interface Note {
  process: Stoppable
  reaper: SeenProcess
}

/** Notes a running process beside its data, for a later run that may find it still there. */
export function rememberProcess(pidFile: string, entry: Stoppable, reaper: SeenProcess): void {
  const note: Note = { process: entry, reaper }
  writeFileSync(pidFile, `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

/** Removes the note, unless a newer process has written its own over it. */
export function forgetProcess(pidFile: string, entry: Stoppable): void {
  if (readNote(pidFile)?.process.identity === entry.identity) rmSync(pidFile, { force: true })
}

/**
 * Stops what the last run left behind. The note holds the moment the process started, so a stranger that has got the
 * same pid since is left alone. While the last run's reaper lives, the work is the reaper's and we only wait.
 */
export async function stopLeftover(pidFile: string): Promise<void> {
  const note = readNote(pidFile)
  if (note === undefined) return
  const patience = Date.now() + note.process.graceMs + 10_000
  while (isSameProcess(note.process) && isSameProcess(note.reaper) && Date.now() < patience) await sleep(50)
  await stopProcess(note.process)
  rmSync(pidFile, { force: true })
}

function readNote(pidFile: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(pidFile, 'utf8')) as Note
  } catch {
    return undefined
  }
}
