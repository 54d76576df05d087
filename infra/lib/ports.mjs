import { createServer } from 'node:net'
import { join } from 'node:path'
import { stopLeftover } from '../../packages/dev-env/reaper/leftovers.mjs'
import { Fault } from './fault.mjs'

/** Stops services that a run before this one could not stop; they would be found on our own ports. */
export async function stopLeftoverServices(dataDir) {
  const stopped = await Promise.all(
    ['vault', 'tracker'].map((name) => stopLeftover(join(dataDir, 'services', `${name}.json`))),
  )
  return stopped.some(Boolean)
}

/** Refuses to go on when somebody else listens where a service should, and names the variable that helps. */
export async function requireFreePorts({ vaultPort, trackerPort }) {
  const wanted = [
    ['The vault', 'VAULT_PORT', vaultPort],
    ['The tracker', 'TRACKER_PORT', trackerPort],
  ]
  const problems = []
  for (const [who, variable, port] of wanted) {
    const trouble = await listenTrouble(port)
    if (trouble !== undefined)
      problems.push(`${who} can not listen on port ${port}: ${trouble}. Set ${variable} to another port.`)
  }
  if (problems.length > 0) throw new Fault(problems.join('\n'))
}

async function listenTrouble(port) {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', ({ code }) => resolve(code === 'EADDRINUSE' ? 'another program has it' : code))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}
