import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** The proxies whose forwarding headers are believed. */
export type TrustedProxies = BlockList

/**
 * Builds the set of trusted proxies from TRUSTED_PROXIES.
 *
 * @param ranges addresses or CIDR ranges, IPv4 or IPv6
 * @throws Error naming the entry that is neither
 */
export function trustedProxies(ranges: readonly string[]): TrustedProxies {
  const list = new BlockList()
  if (ranges.length === 0) none.add(list)
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIP(address)
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix)
    if (family === 0 || !Number.isInteger(bits) || bits > (family === 4 ? 32 : 128))
      throw new Error(`TRUSTED_PROXIES: ${range} is neither an address nor a CIDR range`)
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/**
 * An IPv4 address that is written as an IPv6 one (`::ffff:a.b.c.d`, or in any other spelling that a proxy hands on), in
 * its own form; any address without its zone.
 */
function plainAddress(text: string): string {
  const zone = text.indexOf('%')
  const address = zone === -1 ? text : text.slice(0, zone)
  if (address.startsWith('::ffff:') && isIP(address.slice(7)) === 4) return address.slice(7)
  return /ffff/i.test(address) && isIP(address) === 6 ? unmapped(address) : address
}

function unmapped(address: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (high === undefined || low === undefined) return address
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16BE(Number.parseInt(high, 16), 0)
  bytes.writeUInt16BE(Number.parseInt(low, 16), 2)
  return bytes.join('.')
}

/** Lists without an entry; a look into one costs a request ten microseconds. */
const none = new WeakSet<TrustedProxies>()

function isTrusted(proxies: TrustedProxies, address: string): boolean {
  if (none.has(proxies)) return false
  const family = isIP(address)
  return family !== 0 && proxies.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * The address a request came from: the socket's, or, where the socket is a trusted proxy, the right-most address of
 * X-Forwarded-For that is not one. Whatever stands left of it was written by the stranger himself.
 *
 * @returns an IPv4 or IPv6 address as text, or `0.0.0.0` when the socket is already gone
 */
export function clientAddress(request: IncomingMessage, proxies: TrustedProxies): string {
  let address = plainAddress(request.socket.remoteAddress ?? '0.0.0.0')
  if (!isTrusted(proxies, address)) return address
  const header = request.headers['x-forwarded-for']
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = plainAddress((hops[i] ?? '').trim())
    if (isIP(hop) === 0) return address
    address = hop
    if (!isTrusted(proxies, hop)) return hop
  }
  return address
}

/**
 * The scheme the client used: from X-Forwarded-Proto when the socket is a trusted proxy, else from the socket.
 */
export function clientScheme(request: IncomingMessage, proxies: TrustedProxies): 'http' | 'https' {
  const direct = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
  if (!isTrusted(proxies, plainAddress(request.socket.remoteAddress ?? ''))) return direct
  const header = request.headers['x-forwarded-proto']
  return header === 'https' || header === 'http' ? header : direct
}

/**
 * The host the client used, where it differs from the Host header: X-Forwarded-Host, when the socket is a trusted
 * proxy that sends exactly one.
 */
export function forwardedHost(request: IncomingMessage, proxies: TrustedProxies): string | undefined {
  const header = request.headers['x-forwarded-host']
  if (typeof header !== 'string' || header === '') return undefined
  return isTrusted(proxies, plainAddress(request.socket.remoteAddress ?? '')) ? header : undefined
}

/**
 * What a limit counts: an IPv4 address, or the /64 of an IPv6 one, since a single subscriber owns at least that.
 *
 * @param address as `clientAddress` returns it
 */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('%')[0]?.toLowerCase().split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  // A dotted IPv4 tail stands for two groups; it never reaches into the first four.
  const rightGroups = right.length + (right.at(-1)?.includes('.') === true ? 1 : 0)
  const groups =
    tail === undefined ? left : [...left, ...Array<string>(8 - left.length - rightGroups).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
