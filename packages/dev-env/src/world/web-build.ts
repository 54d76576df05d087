import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from '../processes/managed-process.ts'
import type { WorldOptions } from './services.ts'

/**
 * Builds the tracker's web application now and after every change of its sources. The tracker serves what was built
 * last, so a change is seen when the page is loaded again, under the headers of production.
 */
export async function watchWebApplication({ root, dataDir }: Pick<WorldOptions, 'root' | 'dataDir'>): Promise<void> {
  const cwd = join(root, 'services', 'tracker')
  const pidFile = join(dataDir, 'services', 'web.json')
  for (const folder of ['services', 'logs']) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
  await startProcess({
    name: 'web application',
    command: process.execPath,
    args: [join(cwd, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', 'web', '--watch'],
    env: { PATH: process.env['PATH'] },
    cwd,
    logFile: join(dataDir, 'logs', 'web.log'),
    pidFile,
    stopSignal: 'SIGTERM',
    graceMs: 5_000,
    phase: 0,
  })
}
