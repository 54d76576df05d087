/** The parameters of an announce as bits, so that "seen twice" and "not seen" are one operation each. */
export const Parameter = {
  infoHash: 1,
  peerId: 2,
  port: 4,
  uploaded: 8,
  downloaded: 16,
  left: 32,
  event: 64,
  compact: 128,
  noPeerId: 256,
  numwant: 512,
  key: 1024,
  trackerId: 2048,
  ip: 4096,
  ipv4: 8192,
  ipv6: 16384,
  passkey: 32768,
  /** `corrupt`, `redundant`, `supportcrypto` and whatever else clients send. */
  unknown: 0,
} as const

export type Parameter = (typeof Parameter)[keyof typeof Parameter]

/** Which parameter has its name at `query[start, end)`. Compared in place: no name is ever cut out of the query. */
export function identifyParameter(query: string, start: number, end: number): Parameter {
  switch (end - start) {
    case 2:
      return query.startsWith('ip', start) ? Parameter.ip : Parameter.unknown
    case 3:
      return query.startsWith('key', start) ? Parameter.key : Parameter.unknown
    case 4:
      if (query.startsWith('port', start)) return Parameter.port
      if (query.startsWith('left', start)) return Parameter.left
      if (query.startsWith('ipv4', start)) return Parameter.ipv4
      return query.startsWith('ipv6', start) ? Parameter.ipv6 : Parameter.unknown
    case 5:
      return query.startsWith('event', start) ? Parameter.event : Parameter.unknown
    case 7:
      if (query.startsWith('peer_id', start)) return Parameter.peerId
      if (query.startsWith('passkey', start)) return Parameter.passkey
      if (query.startsWith('numwant', start)) return Parameter.numwant
      return query.startsWith('compact', start) ? Parameter.compact : Parameter.unknown
    case 8:
      return query.startsWith('uploaded', start) ? Parameter.uploaded : Parameter.unknown
    case 9:
      if (query.startsWith('info_hash', start)) return Parameter.infoHash
      return query.startsWith('trackerid', start) ? Parameter.trackerId : Parameter.unknown
    case 10:
      if (query.startsWith('downloaded', start)) return Parameter.downloaded
      return query.startsWith('no_peer_id', start) ? Parameter.noPeerId : Parameter.unknown
    default:
      return Parameter.unknown
  }
}
