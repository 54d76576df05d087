import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourceArguments } from '@vault-and-tracker/dev-env'
import type { Jobs, Result } from './job.ts'

/** A running process to compare with. */
export type Server = { port: number; pid: number; stop(): Promise<void> }

/**
 * Runs one of the measuring scripts in a process of its own and returns what it reports.
 *
 * @param job what to measure
 * @param onStart called when the warm-up is over
 */
export async function measure<Name extends keyof Jobs>(
  script: Name,
  job: Jobs[Name],
  onStart?: () => void,
): Promise<Result> {
  const child = startJob(script)
  child.send(job)
  for (;;) {
    const [message] = (await Promise.race([once(child, 'message'), exited(child, script)])) as [
      Result | { started: true },
    ]
    if ('started' in message) onStart?.()
    else {
      await once(child, 'exit')
      return message
    }
  }
}

/** Starts the constant server and returns its port and how to stop it. */
export async function startConstant(body: object): Promise<Server> {
  const child = startJob('express')
  child.send({ body })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, pid: Number(child.pid), stop: () => stop(child) }
}

/** Ends a process in order and waits until it is gone. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/**
 * CPU seconds a process has used so far; NaN where there is no /proc. The clock ticks 100 times a second on every Linux
 * that Node runs on.
 */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

function startJob(name: string): ChildProcess {
  const file = join(import.meta.dirname, `${name}-job.ts`)
  return spawn(process.execPath, sourceArguments(file), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
}

async function exited(child: ChildProcess, script: string): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null]
  throw new Error(`${script} ended with ${String(code)}`)
}
