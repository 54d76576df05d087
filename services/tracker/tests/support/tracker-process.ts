import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  freePort,
  type ManagedProcess,
  startProcess,
  temporaryFolder,
  testedArguments,
} from '@vault-and-tracker/dev-env'

/** The service in a separate process. */
export type TrackerProcess = { readonly url: string; readonly process: ManagedProcess; log(): string }

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/ready`).catch(() => undefined))?.ok === true

/** Starts the service and returns once it is ready, or at once if `isUp` says so. */
export async function startTrackerProcess(
  env: Readonly<Record<string, string>>,
  isUp: (url: string) => Promise<boolean> = isReady,
): Promise<TrackerProcess> {
  const folder = temporaryFolder('tracker-process')
  const port = await freePort()
  const url = `http://127.0.0.1:${String(port)}`
  const logFile = join(folder, 'tracker.log')
  const process = await startProcess({
    name: 'tracker',
    command: globalThis.process.execPath,
    args: testedArguments('services/tracker', 'main'),
    env: {
      PATH: globalThis.process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: url,
      ALLOW_PRIVATE_PEERS: 'true',
      LOG_LEVEL: 'info',
      ...env,
    },
    cwd: folder,
    logFile,
    pidFile: join(folder, 'tracker.json'),
    stopSignal: 'SIGTERM',
    graceMs: 12_000,
    phase: 0,
    answers: () => isUp(url),
  })
  return { url, process, log: () => readFileSync(logFile, 'utf8') }
}
