import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ports that systems give to outgoing connections, one of which could take a port before a server listens. */
const [FIRST, END] = [10_240, 32_768]
const ATTEMPTS = 100

/**
 * A free port of 127.0.0.1. No other caller gets it, in this process or another, as long as this process runs.
 *
 * @throws Error with the last reason, if a hundred ports in a row were not free
 */
export async function freePort(): Promise<number> {
  let problem: string | undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + 2 * randomInt((END - FIRST) / 2)
    // Listening on the next port, an odd one, claims this one. The system ends the claim with the process.
    const claim = createServer((socket) => socket.destroy()).unref()
    problem = (await listenProblem(claim, port + 1)) ?? (await portProblem(port))
    if (problem === undefined) return port
    claim.close()
  }
  throw new Error(`no free port was found: ${problem ?? ''}`)
}

/** Why no server can listen on this port of 127.0.0.1; undefined if one can. */
export async function portProblem(port: number): Promise<string | undefined> {
  const server = createServer()
  const problem = await listenProblem(server, port)
  if (problem === undefined) await once(server.close(), 'close')
  return problem
}

async function listenProblem(server: Server, port: number): Promise<string | undefined> {
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'another program uses it' : (error.code ?? error.message)),
    )
    server.listen(port, '127.0.0.1', () => resolve(undefined))
  })
}
