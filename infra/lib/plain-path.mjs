import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ROOT } from './workspace.mjs'

/** What a POSIX shell interprets between double quotes. PostgreSQL's initdb starts other programs through one. */
const INTERPRETED = /[$`"\\]/

/**
 * Makes sure that PostgreSQL can be started from the folder of the repository.
 *
 * @param {string} [path]
 * @throws {Fault} naming the character and the remedy
 */
export function requirePlainPath(path = ROOT) {
  const [character] = INTERPRETED.exec(path) ?? []
  if (character === undefined) return
  throw new Fault(
    `PostgreSQL cannot be started from ${path}, because of the ${character} in the path: ` +
      'move the folder, or use docker compose up instead.',
  )
}
