import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ports that systems give to outgoing connections, one of which could take it before a server listens. */
const [FIRST, END] = [10_240, 32_768]
const ATTEMPTS = 100

/**
 * A port of 127.0.0.1 on which nothing listens now. Nobody else who asks here is given it, in this process or another,
 * for as long as this process lives.
 *
 * @throws Error with the last reason, when a hundred ports in a row were not free
 */
export async function freePort(): Promise<number> {
  let problem: string | undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + 2 * randomInt((END - FIRST) / 2)
    // Who listens on the odd port next to it has claimed it. The system gives that up when the process ends.
    const claim = createServer((socket) => socket.destroy()).unref()
    problem = (await problemOf(claim, port + 1)) ?? (await portProblem(port))
    if (problem === undefined) return port
    claim.close()
  }
  throw new Error(`no free port was found: ${problem ?? ''}`)
}

/** Why no server could listen on this port of 127.0.0.1 now; undefined when one could. */
export async function portProblem(port: number): Promise<string | undefined> {
  const server = createServer()
  const problem = await problemOf(server, port)
  if (problem !== undefined) return problem
  server.close()
  await once(server, 'close')
  return undefined
}

/** Has a server listen on a port of 127.0.0.1; returns why it could not. */
async function problemOf(server: Server, port: number): Promise<string | undefined> {
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'another program uses it' : (error.code ?? error.message)),
    )
    server.listen(port, '127.0.0.1', () => resolve(undefined))
  })
}
