import { createHash } from 'node:crypto'
import { type AnnounceRequest, addressFromText, type FailureName, isPrivateAddress } from 'bencode-tracker'

/** Where a peer listens, as the swarm keeps it: the port behind the address, zeros when it is not to be handed out. */
export type PeerEndpoints = {
  readonly ipv4: Uint8Array | undefined
  readonly ipv6: Uint8Array | undefined
  /** The addresses themselves, one behind the other. */
  readonly source: Uint8Array
  /** Whom the announce limit counts where there are no users: an address, or the /64 of an IPv6 one. */
  readonly limitKey: string
}

/**
 * The addresses of a peer: the one the announce came from, or, where that is allowed, those the client claims.
 *
 * @param address 4 or 16 bytes
 */
export function endpointsOf(
  request: AnnounceRequest,
  address: Uint8Array,
  settings: { readonly allowPrivatePeers: boolean; readonly allowIpParam: boolean },
): PeerEndpoints | FailureName {
  let addresses = [address]
  if (settings.allowIpParam) {
    const claimed = claimedAddresses(request)
    if (claimed === undefined) return 'invalid_ip'
    if (claimed.length > 0) addresses = claimed
  }
  let ipv4: Uint8Array | undefined
  let ipv6: Uint8Array | undefined
  for (const each of addresses) {
    if (each.length === 4) ipv4 ??= endpoint(each, request.port, settings.allowPrivatePeers)
    else if (each.length === 16) ipv6 ??= endpoint(each, request.port, settings.allowPrivatePeers)
  }
  if (ipv4 === undefined && ipv6 === undefined) return 'address_not_usable'
  return { ipv4, ipv6, source: sourceOf(addresses), limitKey: limitKeyOf(address) }
}

/**
 * Who owns a peer where there are no users: whoever holds its address and port. A client that sends a `key` (BEP 7)
 * is known by that instead, so that its IPv4 and IPv6 announces belong together.
 *
 * @returns 8 bytes
 */
export function addressOwner(endpoints: PeerEndpoints, request: AnnounceRequest): Buffer {
  const hash = createHash('sha1').update(`${String(request.port)} `)
  if (request.key !== undefined && request.key !== '') hash.update(`key ${request.key}`, 'latin1')
  else hash.update(endpoints.source)
  return hash.digest().subarray(0, 8)
}

function sourceOf(addresses: readonly Uint8Array[]): Uint8Array {
  const [only] = addresses
  return addresses.length === 1 && only !== undefined ? only : Buffer.concat(addresses)
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

function endpoint(address: Uint8Array, port: number, allowPrivate: boolean): Uint8Array {
  const bytes = Buffer.alloc(address.length + 2)
  if (!allowPrivate && isPrivateAddress(address)) return bytes
  bytes.set(address)
  bytes.writeUInt16BE(port, address.length)
  return bytes
}

function limitKeyOf(address: Uint8Array): string {
  return Buffer.from(address.subarray(0, 8)).toString('hex')
}
