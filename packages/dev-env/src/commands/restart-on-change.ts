import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watch } from 'chokidar'
import { describeError } from '../processes/command.mjs'
import type { ManagedProcess } from '../processes/managed-process.ts'
import { SERVICES, type ServiceName, type WorldOptions } from '../world/services.ts'
import type { World } from '../world/world.ts'

/** Changes within this time cause one restart, for example when an editor saves all files. */
const SETTLE_MS = 100
const SCOPE = '@vault-and-tracker/'

type Restarted = Pick<ManagedProcess, 'stop' | 'restart' | 'onUnexpectedExit'>

/**
 * Restarts a service whenever one of its sources changes, or one of the packages that it uses. A change in `src/db` migrates
 * the database first. A service that does not start, or ends, is started again at the next change.
 *
 * @returns once it watches, a function that ends it
 */
export async function restartOnChange(
  { services, migrate }: Pick<World, 'migrate'> & { services: Record<ServiceName, Restarted> },
  { root, step }: Pick<WorldOptions, 'root' | 'step'>,
  isRunning: () => boolean,
): Promise<() => void> {
  const watchers = SERVICES.map((name) => {
    const service = services[name]
    const report = (text: string): void => {
      if (isRunning()) console.error(`\n${text}\n\n${name} restarts when a source changes.\n`)
    }
    service.onUnexpectedExit((_exit, logTail) =>
      report(`${name} ended unexpectedly. The end of its log:\n\n${logTail}`),
    )
    const restart = async (files: readonly string[]): Promise<void> => {
      const changed = files.map((file) => relative(root, file))
      await step(`${name} restarted`, async () => {
        await service.stop()
        if (changed.some((file) => file.includes('src/db/'))) await migrate(name)
        await service.restart()
        return changed.join(', ')
      }).catch((error: unknown) => report(describeError(error)))
    }
    const onChange = oneAtATime(restart)
    return watch(sourceFolders(root, name), { ignoreInitial: true }).on('all', (_event, file) => onChange(file))
  })
  await Promise.all(watchers.map((watcher) => once(watcher, 'ready')))
  return () => {
    for (const watcher of watchers) void watcher.close()
  }
}

/** Collects the files that change at about the same time, and during the work on earlier ones. */
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

/** The folders with the sources of a service and of the packages that it depends on. */
export function sourceFolders(root: string, service: ServiceName): string[] {
  const projects = new Set([`services/${service}`])
  for (const project of projects) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith(SCOPE)) projects.add(name.replace(SCOPE, 'packages/'))
    }
  }
  return [...projects].flatMap((project) => ['src', 'lua'].map((part) => join(root, project, part))).filter(existsSync)
}
