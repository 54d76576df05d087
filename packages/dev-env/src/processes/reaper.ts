import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { identityOf, type SeenProcess } from './identity.mjs'
import type { Stoppable } from './stop.mjs'

/** The process that stops our children if we end without stopping them; see reaper-main.mjs. */
export type Reaper = {
  seen: SeenProcess
  /** Registers a process to stop, or a folder to delete after all processes have stopped. Either may no longer exist. */
  order(order: { watch: Stoppable } | { remove: string }): void
}

let running: Reaper | undefined

/** The reaper of this process. The first call starts it. */
export function reaper(): Reaper {
  running ??= startReaper()
  return running
}

function startReaper(): Reaper {
  const script = fileURLToPath(new URL('./reaper-main.mjs', import.meta.url))
  const child = spawn(process.execPath, [script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'] },
  })
  const { pid, stdin } = child
  if (pid === undefined) throw new Error(`Node could not start ${script}`)
  // Neither the reaper nor the pipe may keep this process running.
  child.unref()
  if (stdin instanceof Socket) stdin.unref()
  stdin.on('error', () => undefined)
  child.once('exit', () => (running = undefined))
  return {
    seen: { pid, identity: identityOf(pid) ?? 'gone' },
    order: (order) => void stdin.write(`${JSON.stringify(order)}\n`),
  }
}
