import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes/command.mjs'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { SERVICES, type ServiceName, servicePaths, type WorldOptions } from './services.ts'

/** The repository, and its packages and services, as `packages/service-kit`. */
export type BuildOptions = {
  root: string
  folders: readonly string[]
}

/** Compiles what changed since the last time, and builds each web application that is older than its sources. */
export async function build({ root, folders }: BuildOptions): Promise<void> {
  const args = [join(root, 'node_modules/@typescript/native/bin/tsc'), '-b', 'tsconfig.build.json']
  // The compiler trusts its own notes and does not notice deleted output.
  const isComplete = folders.every((folder) => existsSync(join(root, folder, 'dist')))
  await run(process.execPath, isComplete ? args : [...args, '--force'], { cwd: root })
  for (const service of SERVICES)
    if (!webIsCurrent(root, service))
      await run(process.execPath, [...vite(root, service), '--logLevel', 'warn'], { cwd: folderOf(root, service) })
}

/**
 * Builds the web applications now and after every change of their sources. A service serves what was built last, so a
 * change is seen when the page is loaded again, under the headers of production.
 */
export async function watchWebApplications(
  options: Pick<WorldOptions, 'root' | 'dataDir'>,
): Promise<readonly ManagedProcess[]> {
  return await Promise.all(
    SERVICES.map((service) =>
      startProcess({
        name: `web application of the ${service}`,
        command: process.execPath,
        args: [...vite(options.root, service), '--watch'],
        env: { PATH: process.env['PATH'] },
        cwd: folderOf(options.root, service),
        ...servicePaths(options.dataDir, `${service}-web`),
        stopSignal: 'SIGTERM',
        graceMs: 5_000,
        phase: 0,
      }),
    ),
  )
}

const folderOf = (root: string, service: ServiceName): string => join(root, 'services', service)
const vite = (root: string, service: ServiceName): string[] => [
  join(folderOf(root, service), 'node_modules/vite/bin/vite.js'),
  ...['build', 'web'],
]

/** Whether a web application was built after the last change of what goes into it. */
function webIsCurrent(root: string, service: ServiceName): boolean {
  const web = join(folderOf(root, service), 'web')
  const kit = join(root, 'packages/web-kit')
  const sources = [join(web, 'src'), join(web, 'public'), join(kit, 'src'), join(kit, 'vite')]
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
