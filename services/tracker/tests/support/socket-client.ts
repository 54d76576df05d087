import { once } from 'node:events'
import { eventually } from '@vault-and-tracker/dev-env'
import { type ClientOptions, WebSocket } from 'ws'

/** A message as it came. */
export type Message = Readonly<Record<string, unknown>>

/** A WebTorrent client, as plain as it can be. */
export type SocketClient = {
  readonly socket: WebSocket
  readonly peerId: string
  /** Everything received so far. */
  readonly received: Message[]
  /** The close code; undefined while it is open. */
  closeCode(): number | undefined
  send(message: unknown): void
  /** Announces and returns the reply. */
  announce(infoHash: string, fields?: Message): Promise<Message>
  /** The next message after those that were there when `act` was called. */
  next(act: () => void): Promise<Message>
  offersReceived(): Message[]
  answersReceived(): Message[]
  close(): Promise<void>
}

/** Bytes in hex as the protocol writes them. */
export function binary(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}

let clients = 0

/** Connects to `/announce`, or another target; `url` is that of HTTP. */
export async function connectSocket(
  url: string,
  passkey?: string,
  options: ClientOptions & { target?: string; peerId?: string } = {},
): Promise<SocketClient> {
  const { target = `/announce${passkey === undefined ? '' : `?passkey=${passkey}`}`, peerId: given, ...rest } = options
  const socket = new WebSocket(url.replace('http', 'ws') + target, rest)
  clients += 1
  const peerId = given ?? `-WW0102-${String(clients).padStart(12, '0')}`
  const received: Message[] = []
  let code: number | undefined
  socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString('utf8')) as Message))
  socket.on('close', (each) => (code = each))
  socket.on('error', () => undefined)
  await Promise.race([
    once(socket, 'open'),
    once(socket, 'unexpected-response').then((args) => {
      const response: unknown = args[1]
      throw new Error(`status ${String((response as { statusCode?: number }).statusCode)}`)
    }),
  ])
  const next = async (act: () => void): Promise<Message> => {
    const before = received.length
    act()
    await eventually(() => received.length > before || code !== undefined)
    const message = received[before]
    if (message === undefined) throw new Error(`closed with ${String(code)}`)
    return message
  }
  const client: SocketClient = {
    socket,
    peerId,
    received,
    closeCode: () => code,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next,
    announce: async (infoHash, fields = {}) => {
      const message = {
        action: 'announce',
        info_hash: binary(infoHash),
        peer_id: peerId,
        uploaded: 0,
        downloaded: 0,
        left: 1000,
        ...fields,
      }
      const isReply = (each: Message): boolean =>
        ('complete' in each || 'failure reason' in each) && each['info_hash'] === message.info_hash
      const before = received.filter(isReply).length
      client.send(message)
      await eventually(() => received.filter(isReply).length > before || code !== undefined)
      const reply = received.filter(isReply)[before]
      if (reply === undefined) throw new Error(`closed with ${String(code)}`)
      return reply
    },
    offersReceived: () => received.filter((each) => 'offer' in each),
    answersReceived: () => received.filter((each) => 'answer' in each),
    close: async () => {
      if (code !== undefined) return
      socket.close()
      await eventually(() => code !== undefined)
    },
  }
  return client
}

let offers = 0

/** This number of offers, each with its own id. */
export function makeOffers(count: number): { offer: { type: string; sdp: string }; offer_id: string }[] {
  return Array.from({ length: count }, () => {
    offers += 1
    return { offer: { type: 'offer', sdp: `v=0\r\n${String(offers)}` }, offer_id: String(offers).padStart(20, 'o') }
  })
}

/** Answers an offer that was received. */
export function answerTo(client: SocketClient, offer: Message): Message {
  return {
    action: 'announce',
    info_hash: offer['info_hash'],
    peer_id: client.peerId,
    to_peer_id: offer['peer_id'],
    answer: { type: 'answer', sdp: `answer to ${String(offer['offer_id'])}` },
    offer_id: offer['offer_id'],
  }
}
