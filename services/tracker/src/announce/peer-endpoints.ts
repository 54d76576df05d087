import { createHash } from 'node:crypto'
import {
  type AnnounceRequest,
  addressFromText,
  type FailureName,
  isPrivateAddress,
} from '@vault-and-tracker/bencode-tracker'

/** The endpoints of a peer as swarms store them: address, then port; zeros if it must not be sent to others. */
export type PeerEndpoints = {
  readonly ipv4: Uint8Array | undefined
  readonly ipv6: Uint8Array | undefined
  /** The bytes of the addresses, concatenated. */
  readonly source: Uint8Array
}

/** Used for a peer that is reachable only through a socket. */
export const NO_ENDPOINTS: PeerEndpoints = { ipv4: undefined, ipv6: undefined, source: new Uint8Array(0) }

/**
 * Finds the addresses of a peer: the one the announce came from, or, if allowed, those the client claims.
 *
 * @param address 4 or 16 bytes
 * @returns the name of a failure if there is no usable address
 */
export function endpointsOf(
  request: AnnounceRequest,
  address: Uint8Array,
  settings: { readonly allowPrivatePeers: boolean; readonly allowIpParam: boolean },
): PeerEndpoints | FailureName {
  if (isUnspecified(address)) return 'address_not_usable'
  const claimed = settings.allowIpParam ? claimedAddresses(request) : []
  if (claimed === undefined) return 'invalid_ip'
  if (claimed.some(isUnspecified)) return 'address_not_usable'
  const [first, second] = claimed
  if (second === undefined) return oneEndpoint(first ?? address, request.port, settings.allowPrivatePeers)
  let ipv4: Uint8Array | undefined
  let ipv6: Uint8Array | undefined
  for (const each of claimed) {
    const found = oneEndpoint(each, request.port, settings.allowPrivatePeers)
    ipv4 ??= found.ipv4
    ipv6 ??= found.ipv6
  }
  return { ipv4, ipv6, source: Buffer.concat(claimed) }
}

/** `0.0.0.0`, which a closed connection reports, or `::`. */
function isUnspecified(address: Uint8Array): boolean {
  for (const byte of address) if (byte !== 0) return false
  return true
}

function oneEndpoint(address: Uint8Array, port: number, allowPrivate: boolean): PeerEndpoints {
  const bytes = Buffer.alloc(address.length + 2)
  if (allowPrivate || !isPrivateAddress(address)) {
    bytes.set(address)
    bytes.writeUInt16BE(port, address.length)
  }
  return address.length === 4
    ? { ipv4: bytes, ipv6: undefined, source: address }
    : { ipv4: undefined, ipv6: bytes, source: address }
}

/**
 * Derives the owner of a peer in open mode from its addresses and port. If the client sends a `key` (BEP 7), the key, the
 * peer id and the port are used instead, so that its IPv4 and IPv6 announces have the same owner. The key alone is not
 * enough: some clients send a constant.
 *
 * @returns 8 bytes
 */
export function addressOwner(endpoints: PeerEndpoints, request: AnnounceRequest): Buffer {
  const hash = createHash('sha1').update(`${String(request.port)} `)
  if (request.key !== undefined && request.key !== '') hash.update(`key ${request.peerId} ${request.key}`, 'latin1')
  else hash.update(endpoints.source)
  return hash.digest().subarray(0, 8)
}

function claimedAddresses(request: AnnounceRequest): Uint8Array[] | undefined {
  const addresses: Uint8Array[] = []
  for (const text of [request.ipv4, request.ipv6, request.ip]) {
    if (text === undefined || text === '') continue
    const address = addressFromText(text)
    if (address === undefined) return undefined
    addresses.push(address)
  }
  return addresses
}

/** The key of the announce limit in open mode: an IPv4 address, or the /64 of an IPv6 address. */
export function limitKeyOf(address: Uint8Array): string {
  return Buffer.from(address.subarray(0, 8)).toString('hex')
}
