import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { identityOf, type SeenProcess } from './identity.mjs'
import type { Stoppable } from './stop.mjs'

/** The process that stops our children when we have ended without stopping them; see reaper-main.mjs. */
export interface Reaper {
  seen: SeenProcess
  watch(entry: Stoppable): void
  forget(pid: number): void
  /** Deletes a folder at the end, after all processes have stopped. */
  remove(path: string): void
  keep(path: string): void
}

let running: Reaper | undefined

/** The reaper of this process, which is started at the first call. */
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
  const pid = child.pid
  if (pid === undefined) throw new Error(`Node could not start ${script}`)
  const send = orders(child)
  child.once('exit', () => {
    running = undefined
  })
  return {
    seen: { pid, identity: identityOf(pid) ?? 'gone' },
    watch: (entry) => send({ op: 'watch', entry }),
    forget: (pid) => send({ op: 'forget', pid }),
    remove: (path) => send({ op: 'remove', path }),
    keep: (path) => send({ op: 'keep', path }),
  }
}

function orders(child: ChildProcess): (order: object) => void {
  const pipe = child.stdin
  if (pipe === null) throw new Error('the reaper has no pipe')
  // Neither the reaper nor the pipe to it may keep this process from ending.
  child.unref()
  if (pipe instanceof Socket) pipe.unref()
  pipe.on('error', () => undefined)
  return (order) => void pipe.write(`${JSON.stringify(order)}\n`)
}
