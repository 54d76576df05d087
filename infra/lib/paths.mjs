import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Where the demo keeps everything: DATA_DIR, seen from where the user is, or `.data` in the repository. */
export function dataDirectory(env = process.env) {
  return env.DATA_DIR ? resolve(env.INIT_CWD ?? process.cwd(), env.DATA_DIR) : join(ROOT, '.data')
}
