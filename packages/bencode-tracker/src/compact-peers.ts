/** Where a peer listens: 4 or 16 address bytes in network order, and a port. */
export interface PeerAddress {
  readonly address: Uint8Array
  readonly port: number
}

/** Bytes of a compact entry with an IPv4 address (BEP 23) and with an IPv6 address (BEP 7). */
export const COMPACT_PEER_LENGTH = 6
export const COMPACT_PEER6_LENGTH = 18

/**
 * One compact entry: the address and the port in network order, 6 bytes (BEP 23) or 18 bytes (BEP 7).
 *
 * @throws {RangeError} when the port is not an integer from 0 to 65535.
 */
export function packPeer({ address, port }: PeerAddress): Buffer {
  const entry = Buffer.allocUnsafe(address.length + 2)
  entry.set(address)
  entry.writeUInt16BE(port, address.length)
  return entry
}

/** Many peers as the values of `peers` (BEP 23) and `peers6` (BEP 7), each in the order given. */
export function packPeers(peers: Iterable<PeerAddress>): { readonly peers: Buffer; readonly peers6: Buffer } {
  const v4: Buffer[] = []
  const v6: Buffer[] = []
  for (const peer of peers) {
    const list = peer.address.length === 4 ? v4 : v6
    list.push(packPeer(peer))
  }
  return { peers: Buffer.concat(v4), peers6: Buffer.concat(v6) }
}

/** Reads the value of `peers` (BEP 23); `undefined` unless its length is a multiple of 6. Addresses are views. */
export function unpackPeers(peers: Uint8Array): PeerAddress[] | undefined {
  return unpack(peers, COMPACT_PEER_LENGTH)
}

/** Reads the value of `peers6` (BEP 7); `undefined` unless its length is a multiple of 18. Addresses are views. */
export function unpackPeers6(peers6: Uint8Array): PeerAddress[] | undefined {
  return unpack(peers6, COMPACT_PEER6_LENGTH)
}

function unpack(bytes: Uint8Array, entryLength: number): PeerAddress[] | undefined {
  if (bytes.length % entryLength !== 0) return undefined
  const peers: PeerAddress[] = []
  for (let i = 0; i < bytes.length; i += entryLength) {
    const portAt = i + entryLength - 2
    const port = (bytes[portAt] ?? 0) * 256 + (bytes[portAt + 1] ?? 0)
    peers.push({ address: bytes.subarray(i, portAt), port })
  }
  return peers
}
