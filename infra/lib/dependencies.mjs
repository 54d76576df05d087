import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { ROOT } from './paths.mjs'

const STAMP = join(ROOT, 'node_modules', '.bootstrap-stamp')

/** Every package and service of the workspace that is a folder with a package.json. */
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
export function dependenciesAreCurrent() {
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== dependencyStamp()) return false
  return workspaceFolders().every((folder) => {
    const { dependencies, devDependencies } = readJson(join(ROOT, folder, 'package.json'))
    return (dependencies ?? devDependencies) === undefined || existsSync(join(ROOT, folder, 'node_modules'))
  })
}

/** Installs exactly what the lockfile says, with the pnpm the repository names; npx brings that pnpm along. */
export async function installDependencies() {
  const { packageManager } = readJson(join(ROOT, 'package.json'))
  const stamp = dependencyStamp()
  const args = ['--yes', packageManager, 'install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
  await run('npx', args, { cwd: ROOT, env: { ...process.env, CI: 'true' } })
  writeFileSync(STAMP, stamp)
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
