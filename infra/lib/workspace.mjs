import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run } from '../../packages/dev-env/src/processes/command.mjs'

/** The repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const STAMP = join(ROOT, 'node_modules', '.bootstrap-stamp')
const TRACKER = join(ROOT, 'services', 'tracker')
const WEB = 'web'
const WEB_FOLDER = 'services/tracker/web'
const VITE = join(TRACKER, 'node_modules', 'vite', 'bin', 'vite.js')
const DEV_ENV = join(ROOT, 'packages', 'dev-env')

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

/** Compiles what changed since the last time. */
export async function build() {
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.build.json']
  // The compiler trusts its own notes and does not notice deleted output.
  const isComplete = workspaceFolders().every((folder) => existsSync(join(ROOT, folder, 'dist')))
  await run(process.execPath, isComplete ? args : [...args, '--force'], { cwd: ROOT })
  if (!webIsCurrent()) await run(process.execPath, [VITE, 'build', WEB, '--logLevel', 'warn'], { cwd: TRACKER })
}

/** Whether the web application was built after the last change of what goes into it. */
function webIsCurrent(root = ROOT) {
  const builtAt = writtenAt(join(root, WEB_FOLDER, 'dist', 'index.html'))
  const sources = [join(root, WEB_FOLDER, 'src'), join(root, WEB_FOLDER, 'public'), join(root, 'packages/web-kit/src')]
  const files = sources.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const others = ['index.html', 'vite.config.ts'].map((name) => join(root, WEB_FOLDER, name))
  return [...files, ...others, join(root, 'pnpm-lock.yaml')].every((file) => writtenAt(file) < builtAt)
}

/** In milliseconds; 0 where there is no file. @param {string} file */
function writtenAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * The package that does everything else, compiled or from its sources. It needs installed dependencies, hence no import
 * at the top of a file.
 *
 * @param {{ fromSource: boolean }} code
 * @returns {Promise<typeof import('../../packages/dev-env/src/commands/index.ts')>}
 */
export async function loadCommands({ fromSource }) {
  if (fromSource) await import(pathToFileURL(join(DEV_ENV, 'src/typescript.mjs')).href)
  return await import(
    pathToFileURL(join(DEV_ENV, fromSource ? 'src/commands/index.ts' : 'dist/commands/index.js')).href
  )
}
