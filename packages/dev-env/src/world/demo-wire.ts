import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type Wire from 'bittorrent-protocol'
import { PIECE_BYTES } from './demo-torrent.ts'

const LOOPBACK = '127.0.0.1'
const BLOCK_BYTES = 2 ** 14
const IDLE_MS = 60_000
/** Other programs of this machine may connect too. */
const MAX_CONNECTIONS = 50

/** What is downloaded, from where, and as whom. */
export type Download = {
  readonly port: number
  readonly peerId: string
  readonly infoHash: string
  readonly size: number
  /** The SHA-1 of each piece in hex. */
  readonly pieces: readonly string[]
  readonly pauseMs: number
  /** Receives the size of each block. */
  readonly onBlock: (bytes: number) => void
}

/** A BitTorrent client on the loopback address, without DHT, peer exchange and local discovery. */
export type WireClient = {
  /** The start of its peer ids (BEP 20). */
  readonly prefix: string
  readonly port: number
  /** Serves a content from now on. */
  seed(infoHash: string, content: Buffer): void
  /** Downloads one block at a time and checks each piece. @throws {Error} if the peer cannot deliver */
  download(what: Download): Promise<Buffer>
}

/** Starts a client that ends with the signal. */
export async function startWireClient(prefix: string, stopping: AbortSignal): Promise<WireClient> {
  const { default: Protocol } = await import('bittorrent-protocol')
  const contents = new Map<string, Buffer>()
  const sockets = new Set<Socket>()
  const open = (socket: Socket): Wire => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy()).setTimeout(IDLE_MS, () => socket.destroy())
    const wire = new Protocol()
    wire.on('error', () => socket.destroy())
    socket.pipe(wire).pipe(socket)
    return wire
  }
  const server = createServer((socket) => {
    const wire = open(socket)
    wire.on('handshake', (infoHash) => {
      const content = contents.get(infoHash)
      if (content === undefined) return void socket.destroy()
      wire.handshake(infoHash, hexOf(prefix.padEnd(20, '0')))
      wire.bitfield(allOf(Math.ceil(content.length / PIECE_BYTES)))
      wire.on('interested', () => wire.unchoke())
      wire.on('request', (piece, offset, length, respond) => {
        const start = piece * PIECE_BYTES + offset
        respond(null, content.subarray(start, start + Math.min(length, BLOCK_BYTES)))
      })
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen({ host: LOOPBACK, port: 0, signal: stopping })
  await once(server, 'listening')
  server.unref()
  stopping.addEventListener('abort', () => {
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return {
    prefix,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    seed: (infoHash, content) => void contents.set(infoHash, content),
    async download(what) {
      const socket = connect({ host: LOOPBACK, port: what.port, signal: stopping })
      try {
        return await receive(open(socket), what)
      } finally {
        socket.destroy()
      }
    },
  }
}

async function receive(wire: Wire, { infoHash, peerId, size, pieces, pauseMs, onBlock }: Download): Promise<Buffer> {
  const closed = once(wire, 'close').then(() => Promise.reject(new Error('the peer closed the connection')))
  closed.catch(() => undefined)
  const unchoked = once(wire, 'unchoke')
  wire.handshake(infoHash, hexOf(peerId))
  wire.interested()
  await Promise.race([unchoked, closed])
  const content = Buffer.alloc(size)
  for (const [piece, hash] of pieces.entries()) {
    const start = piece * PIECE_BYTES
    const end = Math.min(start + PIECE_BYTES, size)
    for (let at = start; at < end; at += BLOCK_BYTES) {
      const length = Math.min(BLOCK_BYTES, end - at)
      const block = await Promise.race([requestBlock(wire, piece, at - start, length), closed])
      content.set(block, at)
      onBlock(length)
      await sleep(pauseMs, undefined, { ref: false })
    }
    if (createHash('sha1').update(content.subarray(start, end)).digest('hex') !== hash)
      throw new Error('the peer sent a damaged piece')
  }
  return content
}

function requestBlock(wire: Wire, piece: number, offset: number, length: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    wire.request(piece, offset, length, (error, block) => (error === null ? resolve(block) : reject(error)))
  })
}

/** The bit field of a client that has all pieces. */
function allOf(pieces: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(pieces / 8))
  for (let piece = 0; piece < pieces; piece++) bits[piece >> 3] = (bits[piece >> 3] ?? 0) | (0x80 >> (piece & 7))
  return bits
}

function hexOf(peerId: string): string {
  return Buffer.from(peerId).toString('hex')
}
