import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes/command.mjs'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { servicePaths, type WorldOptions } from './services.ts'

/** The repository, and its packages and services, as `packages/service-kit`. */
export interface BuildOptions {
  root: string
  folders: readonly string[]
}

/** Compiles what changed since the last time, and builds the web application where it is older than its sources. */
export async function build({ root, folders }: BuildOptions): Promise<void> {
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.build.json']
  // The compiler trusts its own notes and does not notice deleted output.
  const isComplete = folders.every((folder) => existsSync(join(root, folder, 'dist')))
  await run(process.execPath, isComplete ? args : [...args, '--force'], { cwd: root })
  if (!webIsCurrent(root)) await run(process.execPath, [...vite(root), '--logLevel', 'warn'], { cwd: tracker(root) })
}

/**
 * Builds the tracker's web application now and after every change of its sources. The tracker serves what was built
 * last, so a change is seen when the page is loaded again, under the headers of production.
 */
export async function watchWebApplication(options: Pick<WorldOptions, 'root' | 'dataDir'>): Promise<ManagedProcess> {
  return await startProcess({
    name: 'web application',
    command: process.execPath,
    args: [...vite(options.root), '--watch'],
    env: { PATH: process.env['PATH'] },
    cwd: tracker(options.root),
    ...servicePaths(options.dataDir, 'web'),
    stopSignal: 'SIGTERM',
    graceMs: 5_000,
    phase: 0,
  })
}

const tracker = (root: string): string => join(root, 'services/tracker')
const vite = (root: string): string[] => [join(tracker(root), 'node_modules/vite/bin/vite.js'), 'build', 'web']

/** Whether the web application was built after the last change of what goes into it. */
function webIsCurrent(root: string): boolean {
  const web = join(tracker(root), 'web')
  const sources = [join(web, 'src'), join(web, 'public'), join(root, 'packages/web-kit/src')]
  const files = sources.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const others = [join(web, 'index.html'), join(web, 'vite.config.ts'), join(root, 'pnpm-lock.yaml')]
  const builtAt = writtenAt(join(web, 'dist/index.html'))
  return [...files, ...others].every((file) => writtenAt(file) < builtAt)
}

/** In milliseconds; 0 where there is no file. */
function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
