import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Runs one of the measuring scripts in a process of its own and returns what it reports.
 *
 * @param script its file, beside this one
 * @param job what to measure
 * @param onStart called when the warm-up is over
 */
export async function measure(script, job, onStart) {
  const child = fork(pathOf(script))
  child.send(job)
  for (;;) {
    const [message] = await Promise.race([once(child, 'message'), exited(child, script)])
    if (message.started) onStart?.()
    else {
      await once(child, 'exit')
      return message
    }
  }
}

/** Starts the constant server and returns its port and how to stop it. */
export async function startConstant(body) {
  const child = fork(pathOf('express.mjs'))
  child.send({ body })
  const [{ port }] = await once(child, 'message')
  return { port, pid: child.pid, stop: () => stop(child) }
}

/** Ends a process in order and waits until it is gone. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/**
 * CPU seconds a process has used so far; NaN where there is no /proc. The clock ticks 100 times a second on every Linux
 * that Node runs on.
 */
export function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

function pathOf(script) {
  return fileURLToPath(new URL(script, import.meta.url))
}

async function exited(child, script) {
  const [code] = await once(child, 'exit')
  throw new Error(`${script} ended with ${code}`)
}
