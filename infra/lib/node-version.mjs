const MINIMUM = '20.19.0'

/** Whether a version such as "20.20.2" is new enough. @param {string} version */
export function isNewEnough(version) {
  return version.localeCompare(MINIMUM, 'en', { numeric: true }) >= 0
}

/** Ends the process with one sentence when this Node is too old to run the project. */
export function requireNode(version = process.versions.node) {
  if (isNewEnough(version)) return
  console.error(`Node ${MINIMUM} or newer is needed and this is ${version}; get one from https://nodejs.org.`)
  process.exit(1)
}
