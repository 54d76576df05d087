// Checks that come before everything else.
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ROOT } from './workspace.mjs'

const MINIMUM = '20.19.0'

/** Whether a version such as "20.20.2" is new enough. @param {string} version */
export function isNewEnough(version) {
  return version.localeCompare(MINIMUM, 'en', { numeric: true }) >= 0
}

/** @throws {Fault} if this Node is too old to run the project */
export function requireNode(version = process.versions.node) {
  if (!isNewEnough(version))
    throw new Fault(`Node ${MINIMUM} or newer is required. This is ${version}. Get one from https://nodejs.org.`)
}

/**
 * PostgreSQL's initdb starts other programs through a shell, in double quotes.
 *
 * @throws {Fault} if the path of the repository contains a character that the shell would interpret
 */
export function requirePlainPath(path = ROOT) {
  const [character] = /[$`"\\]/.exec(path) ?? []
  if (character !== undefined)
    throw new Fault(
      `PostgreSQL cannot be started from ${path}, because of the ${character} in the path. ` +
        'Move the folder, or use docker compose up instead.',
    )
}
