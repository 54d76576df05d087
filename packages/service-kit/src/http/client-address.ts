import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import proxyaddr from 'proxy-addr'

/** The parts of a request that determine its client address. */
export type ClientConnection = {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
}

// Its type demands a whole request.
const allAddresses = proxyaddr.all as (request: ClientConnection, trust: TrustedProxies['isTrusted']) => string[]

/** The proxies whose forwarding headers are trusted. */
export type TrustedProxies = {
  /** Whether an address belongs to a trusted proxy; false for text that is not an address. */
  isTrusted(address: string, hop?: number): boolean
}

/** proxy-addr does not accept a range of all addresses, but it accepts the two halves. */
const HALVES: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0/0': ['0.0.0.0/1', '128.0.0.0/1'],
  '::/0': ['::/1', '8000::/1'],
}

/** The set of trusted proxies, by addresses or CIDR ranges. @throws Error if `isAddressRange` is false for one of them */
export function trustedProxies(ranges: readonly string[]): TrustedProxies {
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong !== undefined) throw new Error(`${wrong} is neither an address nor a CIDR range`)
  const isTrusted = proxyaddr.compile(ranges.flatMap((range) => HALVES[range] ?? range))
  return { isTrusted: (address, hop = 0) => isTrusted(address, hop) }
}

/** Whether a text is an IPv4 or IPv6 address, or a CIDR range of them. */
export function isAddressRange(text: string): boolean {
  const [address = ''] = text.split('/')
  if (isIP(address) === 0) return false
  try {
    proxyaddr.compile([...(HALVES[text] ?? [text])])
    return true
  } catch {
    return false
  }
}

/**
 * The client address of a request: that of the socket or, if the socket belongs to a trusted proxy, the right-most address
 * of X-Forwarded-For that does not. The client can write anything to the left of that address.
 *
 * @returns an address without a zone; an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) as IPv4; `0.0.0.0` if the
 *   socket is already closed
 */
export function clientAddress(request: ClientConnection, proxies: TrustedProxies): string {
  const { remoteAddress } = request.socket
  if (remoteAddress === undefined) return '0.0.0.0'
  // Without a proxy, no list of hops is built, which keeps announces cheap.
  if (!proxies.isTrusted(remoteAddress)) return plainAddress(remoteAddress)
  const hops = allAddresses(request, (address, hop) => proxies.isTrusted(address, hop))
  // A hop may be a word such as "unknown" (RFC 7239 section 6.2). The address is then that of the proxy before it.
  return plainAddress(hops.findLast((hop) => isIP(hop) !== 0) ?? remoteAddress)
}

/** An address without its zone, and an IPv4-mapped one in any notation as IPv4. */
export function plainAddress(text: string): string {
  const zone = text.indexOf('%')
  const address = zone === -1 ? text : text.slice(0, zone)
  // These two lines handle most requests. Parsing takes 2 µs.
  if (address.startsWith('::ffff:') && isIP(address.slice(7)) === 4) return address.slice(7)
  if (!/ffff/i.test(address) || isIP(address) !== 6) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address
}

/** The key under which limits count a client address: an IPv6 address by its /64, because a subscriber has at least that. */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${network.map((part) => part.toString(16)).join(':')}::/64`
}
