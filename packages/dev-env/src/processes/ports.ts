import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, one of which could take it before a server listens. */
const [FIRST, END] = [10_240, 32_768]
const ATTEMPTS = 100

/** A port of 127.0.0.1 on which nothing listens now. */
export async function freePort(): Promise<number> {
  let problem: string | undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, END)
    problem = await portProblem(port)
    if (problem === undefined) return port
  }
  throw new Error(`no free port was found: ${problem ?? ''}`)
}

/** Why no server could listen on this port of 127.0.0.1 now; undefined when one could. */
export async function portProblem(port: number): Promise<string | undefined> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'another program uses it' : error.code),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}
