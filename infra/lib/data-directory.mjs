import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
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
 * @throws {Fault} when the user may not write there
 */
export function openDataDirectory(folder) {
  const isNew = mkdirSync(folder, { recursive: true }) !== undefined
  if (isNew) chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const remedy = 'start as the user who created it, delete it, or set DATA_DIR to another folder'
    throw new Fault(`You may not write in ${folder}: ${remedy}.`, { cause })
  }
}
