import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run } from '../../packages/dev-env/src/processes/command.mjs'

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

const STAMP = join(ROOT, 'node_modules', '.bootstrap-stamp')
const DEV_ENV = join(ROOT, 'packages', 'dev-env', 'src')

/** The folders of all packages and services, such as `packages/service-kit`. @returns {string[]} */
export function workspaceFolders(root = ROOT) {
  return ['packages', 'services'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .sort(),
  )
}

/** Changes whenever an install would change something: the lockfile, a manifest, the settings, or Node's own version. */
export function dependencyStamp(root = ROOT) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.versions.modules}\n`)
  const manifests = workspaceFolders(root).map((folder) => `${folder}/package.json`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/**
 * Installs the dependencies of the lockfile unless they are installed. npx fetches the pnpm that package.json names.
 *
 * @param {import('./progress.mjs').Step} step
 */
export async function installDependencies(step) {
  const stamp = dependencyStamp()
  const isInstalled = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp
  if (isInstalled && workspaceFolders().every((folder) => existsSync(join(ROOT, folder, 'node_modules')))) return
  await step('dependencies installed', async () => {
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const args = ['--yes', packageManager, 'install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
    await run('npx', args, { cwd: ROOT, env: { ...process.env, CI: 'true' } })
    writeFileSync(STAMP, stamp)
  })
}

/**
 * Loads the commands of dev-env from their sources. They need the installed dependencies.
 *
 * @returns {Promise<typeof import('../../packages/dev-env/src/commands/index.ts')>}
 */
export async function loadCommands() {
  await import(pathToFileURL(join(DEV_ENV, 'typescript.mjs')).href)
  return await import(pathToFileURL(join(DEV_ENV, 'commands/index.ts')).href)
}
