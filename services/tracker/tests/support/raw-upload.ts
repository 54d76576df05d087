import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Client } from './client.ts'

const BOUNDARY = 'boundary-of-a-test'

/** An upload on its own socket, which a test can interrupt anywhere. */
export type RawUpload = {
  readonly socket: Socket
  /** Sends the first bytes of the body, or all of it. */
  send(bytes?: number): void
  /** Sends the bytes of the body from one position to another. */
  sendPart(from: number, to: number): void
  readonly length: number
  /** The answer received so far. */
  answered(): string
}

/** Opens a connection and sends the headers of an upload, or of a preview, and no byte of its body. */
export async function startRawUpload(
  url: string,
  client: Client,
  file: Buffer,
  path = '/api/torrents',
): Promise<RawUpload> {
  const { port, hostname } = new URL(url)
  const body = formOf(file)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => undefined)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncookie: session=${client.cookie ?? ''}\r\n` +
      `content-type: multipart/form-data; boundary=${BOUNDARY}\r\ncontent-length: ${String(body.length)}\r\n\r\n`,
  )
  return {
    socket,
    send: (bytes = body.length) => void socket.write(body.subarray(0, bytes)),
    sendPart: (from, to) => void socket.write(body.subarray(from, to)),
    length: body.length,
    answered: () => text,
  }
}

function formOf(file: Buffer): Buffer {
  const part = (name: string) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"`
  return Buffer.concat([
    Buffer.from(`${part('category')}\r\n\r\nother\r\n${part('torrent')}; filename="x.torrent"\r\n\r\n`),
    file,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])
}
