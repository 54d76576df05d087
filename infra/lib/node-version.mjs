const MINIMUM = [20, 19, 0]

/** Whether a version such as "20.20.2" is new enough. @param {string} version */
export function isNewEnough(version, minimum = MINIMUM) {
  const parts = version.split('.').map(Number)
  for (const [index, least] of minimum.entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}

/** Ends the process with one sentence when this Node is too old to run the project. */
export function requireNode(version = process.versions.node) {
  if (isNewEnough(version)) return
  console.error(`Node ${MINIMUM.join('.')} or newer is needed and this is ${version}; get one from https://nodejs.org.`)
  process.exit(1)
}
