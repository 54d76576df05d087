import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, sourceArguments } from '@vault-and-tracker/dev-env'

/** The service as a process of its own, run from its sources. */
export type TrackerProcess = {
  readonly url: string
  readonly child: ChildProcess
  output(): string
  /** Sends a signal and returns how the process ended. */
  end(signal: NodeJS.Signals): Promise<NodeJS.Signals | number | null>
}

/** Starts the service and returns once it is ready. */
export async function startTrackerProcess(env: Readonly<Record<string, string>>): Promise<TrackerProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${String(port)}`
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, sourceArguments(main), {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: url,
      ALLOW_PRIVATE_PEERS: 'true',
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const output = (): string => Buffer.concat(chunks).toString('utf8')
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })
  for (let i = 0; ; i++) {
    const ready = await fetch(`${url}/ready`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) break
    if (child.exitCode !== null || i > 400) throw new Error(`the tracker did not start:\n${output()}`)
    await sleep(50)
  }
  return {
    url,
    child,
    output,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
