const NEEDED = [20, 19, 0]

/** Whether a version such as "20.20.2" is new enough. */
export function isNewEnough(version, needed = NEEDED) {
  const parts = version.split('.').map(Number)
  for (const [index, least] of needed.entries()) {
    if (parts[index] !== least) return parts[index] > least
  }
  return true
}

/** Ends the process with one sentence when this Node is too old to run the project. */
export function requireNode(version = process.versions.node) {
  if (isNewEnough(version)) return
  console.error(`Node ${NEEDED.join('.')} or newer is needed and this is ${version}; get one from https://nodejs.org.`)
  process.exit(1)
}
