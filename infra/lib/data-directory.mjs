import { accessSync, chmodSync, constants, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ROOT } from './workspace.mjs'

/** The folder of all data: DATA_DIR, relative to where npm was called, or `.data` in the repository. */
export function dataDirectory(env = process.env) {
  return env['DATA_DIR'] ? resolve(env['INIT_CWD'] ?? process.cwd(), env['DATA_DIR']) : join(ROOT, '.data')
}

/**
 * Creates that folder, for its owner alone. Root lets other users enter it, because its Postgres runs as another user. A
 * folder that exists is not changed: every secret in it has a mode of its own.
 *
 * @param {string} folder
 * @throws {Fault} when the user may not write there, or may not change a file that an earlier start has left
 */
export function openDataDirectory(folder) {
  const isNew = mkdirSync(folder, { recursive: true }) !== undefined
  if (isNew) chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700)
  requireAccess(folder, constants.R_OK | constants.W_OK | constants.X_OK, `You may not write in ${folder}`)
  // What the start itself reads and writes is here and one folder below.
  for (const file of [folder, ...foldersIn(folder)].flatMap(filesIn))
    requireAccess(file, constants.R_OK | constants.W_OK, `You may not change ${file}`)
}

/** @param {string} path @param {number} mode @param {string} problem */
function requireAccess(path, mode, problem) {
  try {
    accessSync(path, mode)
  } catch (cause) {
    const remedy = 'start as the user who created it, delete it, or set DATA_DIR to another folder'
    throw new Fault(`${problem}: ${remedy}.`, { cause })
  }
}

/** @param {string} folder */
function foldersIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
  for (const one of folders)
    requireAccess(one, constants.R_OK | constants.W_OK | constants.X_OK, `You may not write in ${one}`)
  return folders
}

/** @param {string} folder */
function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name))
}
