import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run } from '../../packages/dev-env/src/processes/command.mjs'

/** The repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const STAMP = join(ROOT, 'node_modules', '.bootstrap-stamp')
const DEV_ENV = join(ROOT, 'packages', 'dev-env', 'src')

/**
 * Every package and service of the workspace that is a folder with a package.json, as `packages/service-kit`.
 *
 * @returns {string[]}
 */
export function workspaceFolders(root = ROOT) {
  return ['packages', 'services'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .sort(),
  )
}

/** Changes whenever an install would do something: the lockfile, a manifest, the settings, or Node's own version. */
export function dependencyStamp(root = ROOT) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.versions.modules}\n`)
  const manifests = workspaceFolders(root).map((folder) => `${folder}/package.json`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** Whether the installed dependencies are the ones the lockfile asks for. */
function dependenciesAreCurrent() {
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== dependencyStamp()) return false
  return workspaceFolders().every((folder) => existsSync(join(ROOT, folder, 'node_modules')))
}

/**
 * Installs exactly what the lockfile says, where something is missing, with the pnpm that package.json names; npx
 * fetches that pnpm.
 *
 * @param {import('./progress.mjs').Step} step
 */
export async function installDependencies(step) {
  if (dependenciesAreCurrent()) return
  await step('dependencies installed', async () => {
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const stamp = dependencyStamp()
    const args = ['--yes', packageManager, 'install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
    await run('npx', args, { cwd: ROOT, env: { ...process.env, CI: 'true' } })
    writeFileSync(STAMP, stamp)
  })
}

/**
 * The package that does everything else, from its sources. It needs installed dependencies, hence no import at the top of
 * a file.
 *
 * @returns {Promise<typeof import('../../packages/dev-env/src/commands/index.ts')>}
 */
export async function loadCommands() {
  await import(pathToFileURL(join(DEV_ENV, 'typescript.mjs')).href)
  return await import(pathToFileURL(join(DEV_ENV, 'commands/index.ts')).href)
}
