import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../processes/command.mjs'
import { startProcess } from '../processes/managed-process.ts'
import { SERVICES, type ServiceName, servicePaths, type WorldOptions } from './services.ts'

/** The repository, and its packages and services, such as `packages/service-kit`. */
export type BuildOptions = { root: string; folders: readonly string[] }

/** Compiles what has changed, and builds each web application that is older than its sources. */
export async function build({ root, folders }: BuildOptions): Promise<void> {
  const args = [join(root, 'node_modules/@typescript/native/bin/tsc'), '-b', 'tsconfig.build.json']
  // The compiler trusts its own notes and does not notice deleted output.
  const isComplete = folders.every((folder) => existsSync(join(root, folder, 'dist')))
  await run(process.execPath, isComplete ? args : [...args, '--force'], { cwd: root })
  for (const service of SERVICES)
    if (!isWebCurrent(root, service))
      await run(process.execPath, [...vite(root, service), '--logLevel', 'warn'], {
        cwd: join(root, 'services', service),
      })
}

/**
 * Builds the web applications now and after every change of their sources. A service serves the last build, so the change is
 * visible when the page is loaded again.
 */
export async function watchWebApplications({ root, dataDir }: Pick<WorldOptions, 'root' | 'dataDir'>): Promise<void> {
  await Promise.all(
    SERVICES.map((service) =>
      startProcess({
        name: `web application of the ${service}`,
        command: process.execPath,
        args: [...vite(root, service), '--watch'],
        env: { PATH: process.env['PATH'] },
        cwd: join(root, 'services', service),
        ...servicePaths(dataDir, `${service}-web`),
        stopSignal: 'SIGTERM',
        graceMs: 5_000,
        phase: 0,
      }),
    ),
  )
}

function vite(root: string, service: ServiceName): string[] {
  return [join(root, 'services', service, 'node_modules/vite/bin/vite.js'), 'build', 'web']
}

/** Whether a web application was built after the last change of its sources. */
function isWebCurrent(root: string, service: ServiceName): boolean {
  const web = join(root, 'services', service, 'web')
  const kit = join(root, 'packages/web-kit')
  const files = [join(web, 'src'), join(web, 'public'), join(kit, 'src'), join(kit, 'vite')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const others = [join(web, 'index.html'), join(web, 'vite.config.ts'), join(root, 'pnpm-lock.yaml')]
  const writtenAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const builtAt = writtenAt(join(web, 'dist/index.html'))
  return [...files, ...others].every((file) => writtenAt(file) < builtAt)
}
