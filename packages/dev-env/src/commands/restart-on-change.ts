import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../processes/command.mjs'
import type { WorldOptions } from '../world/options.ts'
import { SERVICES, type ServiceName } from '../world/plan.ts'
import type { World } from '../world/world.ts'
import { watchFolders } from './watch-folders.ts'

/** Changes within this time are one restart, as when an editor saves all files. */
const SETTLE_MS = 100
const SCOPE = '@vault-and-tracker/'

/**
 * Restarts a service whenever one of its sources, or of the packages it uses, is written; after a change of `src/db`
 * the database is migrated first. A service that does not start, or ends by itself, is started at the next change.
 *
 * @returns a function that ends it
 */
export function restartOnChange(
  { services, migrate }: Pick<World, 'services' | 'migrate'>,
  { root, step }: Pick<WorldOptions, 'root' | 'step'>,
  isRunning: () => boolean,
): () => void {
  const watches = SERVICES.map((name) => {
    const service = services[name]
    const tell = (text: string): void => {
      if (isRunning()) console.error(`\n${text}\n\n${name} restarts when a source changes.\n`)
    }
    const restart = async (files: readonly string[]): Promise<void> => {
      const changed = files.map((file) => relative(root, file))
      try {
        await step(`${name} restarted`, async () => {
          await service.stop()
          if (changed.some((file) => file.includes('src/db/'))) await migrate(name)
          await service.restart()
          return changed.join(', ')
        })
      } catch (error) {
        tell(describeError(error))
      }
    }
    service.onUnexpectedExit((_exit, logTail) => tell(`${name} ended unexpectedly. The end of its log:\n\n${logTail}`))
    return watchFolders(sourceFolders(root, name), oneAtATime(restart))
  })
  return () => {
    for (const stop of watches) stop()
  }
}

/** Collects the files that change at about the same time, and while the work for others is under way. */
function oneAtATime(work: (files: readonly string[]) => Promise<void>): (file: string) => void {
  const waiting = new Set<string>()
  let isBusy = false
  const run = async (): Promise<void> => {
    isBusy = true
    while (waiting.size > 0) {
      await sleep(SETTLE_MS)
      const files = [...waiting]
      waiting.clear()
      await work(files)
    }
    isBusy = false
  }
  return (file) => {
    if (!/(?<!\.test)\.ts$|\.lua$/.test(file)) return
    waiting.add(file)
    if (!isBusy) void run()
  }
}

/** Where the sources of a service and of the packages it depends on are. */
export function sourceFolders(root: string, service: ServiceName): string[] {
  const projects = new Set([`services/${service}`])
  for (const project of projects) {
    const manifest = JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (name.startsWith(SCOPE)) projects.add(name.replace(SCOPE, 'packages/'))
    }
  }
  return [...projects].flatMap((project) => ['src', 'lua'].map((part) => join(root, project, part))).filter(existsSync)
}
