import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../processes/identity.mjs'
import type { Stoppable } from '../processes/stop.mjs'

/**
 * Notes this process as a user of the run's servers. When jest is killed, a worker with an open handle would keep running;
 * the reaper of the run stops it together with the servers.
 */
export function becomeGuest(runFolder: string | undefined = process.env['TEST_RUN_FOLDER']): void {
  const identity = identityOf(process.pid)
  if (runFolder === undefined || identity === undefined) return
  const guest: Stoppable = { pid: process.pid, identity, stopSignal: 'SIGKILL', graceMs: 1000, phase: 0 }
  mkdirSync(join(runFolder, 'guests'), { recursive: true, mode: 0o700 })
  writeFileSync(join(runFolder, 'guests', String(process.pid)), JSON.stringify(guest))
}
