import { parsePeerId } from '@vault-and-tracker/bencode-tracker'
import type { ListedPeer } from './peer-list.ts'
import { expiryOf, hasIpv4, hasIpv6, ipv4Of, ipv6Of, recordAt } from './wire.ts'

// PEER: what the hash of a swarm has of each peer, see lua/swarm/layouts.lua and lua/swarm/index.lua -----------------

const PEER_LENGTH = 44
const OWNER_LENGTH = 8
const UPLOADED_AT = 3
const DOWNLOADED_AT = 10
const LAST_AT = 16
const FLAGS_AT = 21
const PEER_ID_AT = 24
const IS_SEEDER = 1
const IS_PAUSED = 2

/**
 * The peers of a list that have not expired.
 *
 * @param records RECORDs, one behind the other
 * @param values the PEERs, in the same order
 * @param minute as records count it; peers that expired before are left out
 */
export function decodePeers(records: Buffer, values: Buffer, minute: number): readonly ListedPeer[] {
  const peers: ListedPeer[] = []
  for (let index = 0; index < values.length / PEER_LENGTH; index++) {
    const peer = expiryOf(records, recordAt(index)) < minute ? undefined : decodePeer(records, values, index)
    if (peer !== undefined) peers.push(peer)
  }
  return peers
}

function decodePeer(records: Buffer, values: Buffer, index: number): ListedPeer | undefined {
  const at = recordAt(index)
  const value = values.subarray(index * PEER_LENGTH, (index + 1) * PEER_LENGTH)
  const peerId = parsePeerId(value.toString('hex', PEER_ID_AT))
  if (peerId === undefined) return undefined
  const flags = value[FLAGS_AT] ?? 0
  return {
    owner: records.subarray(at, at + OWNER_LENGTH),
    peerId,
    state: (flags & IS_SEEDER) !== 0 ? 'seeder' : (flags & IS_PAUSED) !== 0 ? 'paused' : 'leecher',
    endpoints: [
      ...(hasIpv4(records, at) ? [ipv4Of(records, at)] : []),
      ...(hasIpv6(records, at) ? [ipv6Of(records, at)] : []),
    ],
    uploaded: readUint56(value, UPLOADED_AT),
    downloaded: value.readUIntBE(DOWNLOADED_AT, 6),
    lastAnnounce: value.readUInt32BE(LAST_AT),
  }
}

function readUint56(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3) * 0x1_0000_0000 + bytes.readUInt32BE(at + 3)
}
