import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { infoHashOf } from './numbering.ts'

/** What a client reports. */
export type Heard = {
  reply(client: SocketClient): void
  /** An offer, and its number. */
  offer(sequence: number): void
  answer(): unknown
}

/** A cheap WebTorrent client: it patches prepared frames, and does not parse what it receives. */
export type SocketClient = {
  /** Announces. `sequence` is the number of its first offer. */
  announce(sequence: number, seeds: boolean): void
  close(): void
}

/** Every byte of a message is masked with it (RFC 6455 section 5.3). */
const MASK = 0x2a
/** As long as Chromium's for a data channel with two candidates. */
const SDP = `v=0\r\no=- ${'4'.repeat(19)} 2 IN IP4 127.0.0.1\r\n${`a=candidate:${'1'.repeat(70)}\r\n`.repeat(6)}`
const ID_LENGTH = 20
const PEER_ID = '"peer_id":"'
const OFFER_ID = '"offer_id":"'
/** A placeholder for an id. */
const BLANK = '?'.repeat(ID_LENGTH)

/** Connects client `n` of a torrent. Each of its announces has `offers` offers. */
export async function connectClient(
  url: URL,
  { n, torrent, offers, target }: { n: number; torrent: number; offers: number; target: string },
  heard: Heard,
): Promise<SocketClient> {
  const socket = connect({ port: Number(url.port), host: url.hostname, noDelay: true })
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  const rest = await upgraded(socket)
  const common = { action: 'announce', info_hash: infoHashOf(torrent).toString('latin1'), peer_id: peerIdOf(n) }
  const announceOf = (left: number): Template =>
    template({
      ...common,
      uploaded: 0,
      downloaded: 0,
      left,
      numwant: offers,
      offers: Array.from({ length: offers }, () => ({ offer: { type: 'offer', sdp: SDP }, offer_id: BLANK })),
    })
  const [leeching, seeding] = [announceOf(1000), announceOf(0)]
  const answering = template({
    ...common,
    to_peer_id: BLANK,
    answer: { type: 'answer', sdp: SDP },
    offer_id: BLANK,
  })
  const client: SocketClient = {
    announce: (sequence, seeds) => {
      const { frame, blanks } = seeds ? seeding : leeching
      blanks.forEach((at, i) => writeMasked(frame, String(sequence + i).padStart(ID_LENGTH, '0'), at))
      socket.write(Buffer.from(frame))
    },
    close: () => socket.destroy(),
  }

  const onMessage = (bytes: Buffer): Buffer | undefined => {
    const sender = bytes.indexOf(PEER_ID)
    if (sender < 0) {
      if (bytes.includes('failure reason')) throw new Error(bytes.toString())
      heard.reply(client)
      return undefined
    }
    if (bytes.includes('"type":"answer"')) {
      heard.answer()
      return undefined
    }
    const at = bytes.indexOf(OFFER_ID) + OFFER_ID.length
    const [toPeer, offerId] = [slice(bytes, sender + PEER_ID.length), slice(bytes, at)]
    heard.offer(Number(offerId))
    const [first = 0, second = 0] = answering.blanks
    writeMasked(answering.frame, toPeer, first)
    writeMasked(answering.frame, offerId, second)
    return Buffer.from(answering.frame)
  }
  readFrames(socket, rest, onMessage)
  return client
}

function peerIdOf(n: number): string {
  return `-WW0102-${String(n).padStart(12, '0')}`
}

function slice(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + ID_LENGTH)
}

/** Reads the response to the upgrade and returns the bytes after it. */
async function upgraded(socket: Socket): Promise<Buffer> {
  let received = Buffer.alloc(0)
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) continue
    if (!received.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) throw new Error(received.toString())
    return received.subarray(end + 4)
  }
}

/** Calls back with each message, and writes the results for each read at once. */
function readFrames(socket: Socket, first: Buffer, onMessage: (bytes: Buffer) => Buffer | undefined): void {
  let pending = first
  const read = (): void => {
    const answers: Buffer[] = []
    for (;;) {
      const short = (pending[1] ?? 0) & 0x7f
      const head = short < 126 ? 2 : 4
      if (pending.length < head) break
      const end = head + (short < 126 ? short : pending.readUInt16BE(2))
      if (pending.length < end) break
      const answer = pending[0] === 0x81 ? onMessage(pending.subarray(head, end)) : undefined
      if (answer !== undefined) answers.push(answer)
      pending = pending.subarray(end)
    }
    if (answers.length > 0) socket.write(Buffer.concat(answers))
  }
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    read()
  })
  socket.on('error', () => undefined)
  read()
}

type Template = { readonly frame: Buffer; readonly blanks: readonly number[] }

/** A masked text frame, and the positions of its placeholders. */
function template(message: unknown): Template {
  const payload = Buffer.from(JSON.stringify(message))
  const head =
    payload.length < 126 ? [0x81, 0x80 + payload.length] : [0x81, 0x80 + 126, payload.length >> 8, payload.length & 255]
  const start = head.length + 4
  const blanks: number[] = []
  for (let at = payload.indexOf(BLANK); at >= 0; at = payload.indexOf(BLANK, at + ID_LENGTH)) blanks.push(start + at)
  const frame = Buffer.from([...head, MASK, MASK, MASK, MASK, ...payload.map((byte) => byte ^ MASK)])
  return { frame, blanks }
}

function writeMasked(frame: Buffer, text: string, at: number): void {
  for (let i = 0; i < text.length; i++) frame[at + i] = text.charCodeAt(i) ^ MASK
}
