import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Closing at once would reset the connection of a client that is still sending, and it would not read the response. */
export const LINGER_MS = 500

/** So much of a body that nobody wants is read, so that the connection can be used again. */
const MAX_UNWANTED_BYTES = 64 * 1024

/**
 * Ends the connection with the answer where the rest of the body is long, or nobody knows how long. Node would read it to its
 * end, also when the request was refused.
 */
export function leaveUnwantedBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasLongBody(request)) return
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
  response.writeHead = (...args: unknown[]) => {
    if (!request.complete) {
      response.setHeader('Connection', 'close')
      endSlowly(request.socket)
    }
    return writeHead(...args)
  }
}

function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_UNWANTED_BYTES
}

/**
 * Lets the answer that ends a connection read no more, and close it when the client has had the time to read the answer. To
 * be called before the answer ends.
 */
export function endSlowly(socket: Socket): void {
  // What Node calls once such an answer is written; its own one closes at once.
  socket.destroySoon = () => {
    socket.pause()
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS)
  }
}
