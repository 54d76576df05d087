/** The parameters of an announce, numbered without gaps so that a `switch` over them is one jump. */
export const Parameter = {
  infoHash: 0,
  peerId: 1,
  port: 2,
  uploaded: 3,
  downloaded: 4,
  left: 5,
  event: 6,
  compact: 7,
  noPeerId: 8,
  numwant: 9,
  key: 10,
  trackerId: 11,
  ip: 12,
  ipv4: 13,
  ipv6: 14,
  passkey: 15,
  /** `corrupt`, `redundant`, `supportcrypto` and whatever else clients send. */
  unknown: -1,
} as const

export type Parameter = (typeof Parameter)[keyof typeof Parameter]
export type KnownParameter = Exclude<Parameter, typeof Parameter.unknown>

type Entry = {
  readonly name: Uint8Array
  readonly parameter: KnownParameter
}

const SHORTEST_NAME = 2
const LONGEST_NAME = 10
const TABLE: (Entry | undefined)[] = Array.from({ length: (LONGEST_NAME + 1) * 32 })

/** Length, first and last byte tell the known names apart, so one look into a table leaves one candidate. */
function slotOf(name: Uint8Array, start: number, end: number): number {
  return (end - start) * 32 + (((name[start] ?? 0) + (name[end - 1] ?? 0)) & 31)
}

function enter(text: string, parameter: KnownParameter): void {
  const name = new Uint8Array(Buffer.from(text, 'latin1'))
  const slot = slotOf(name, 0, name.length)
  if (TABLE[slot] !== undefined) throw new TypeError(`${text} needs another way of telling names apart`)
  TABLE[slot] = { name, parameter }
}

enter('info_hash', Parameter.infoHash)
enter('peer_id', Parameter.peerId)
enter('port', Parameter.port)
enter('uploaded', Parameter.uploaded)
enter('downloaded', Parameter.downloaded)
enter('left', Parameter.left)
enter('event', Parameter.event)
enter('compact', Parameter.compact)
enter('no_peer_id', Parameter.noPeerId)
enter('numwant', Parameter.numwant)
enter('key', Parameter.key)
enter('trackerid', Parameter.trackerId)
enter('ip', Parameter.ip)
enter('ipv4', Parameter.ipv4)
enter('ipv6', Parameter.ipv6)
enter('passkey', Parameter.passkey)

/** Which parameter has its name at `query[start, end)`. */
export function identifyParameter(query: Uint8Array, start: number, end: number): Parameter {
  if (end - start < SHORTEST_NAME || end - start > LONGEST_NAME) return Parameter.unknown
  const candidate = TABLE[slotOf(query, start, end)]
  if (candidate === undefined) return Parameter.unknown
  const { name, parameter } = candidate
  for (let i = 0; i < name.length; i++) {
    if (name[i] !== query[start + i]) return Parameter.unknown
  }
  return parameter
}
