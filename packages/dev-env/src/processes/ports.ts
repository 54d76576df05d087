import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** A port of 127.0.0.1 on which nothing listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('the kernel gave no port')
  return address.port
}

/** Whether a server could listen on this port of 127.0.0.1 now. */
export async function portIsFree(port: number): Promise<boolean> {
  return (await portProblem(port)) === undefined
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

/** Whether a server accepts connections on this port of 127.0.0.1. */
export async function portAnswers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise((resolve) => {
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
