import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public IPv6 addresses are in 2000::/3 (IANA registry). */
const PUBLIC_IPV6 = ipaddr.IPv6.parse('2000::')

/**
 * Whether an address is reachable on the internet. IPv4-mapped, translated (NAT64) and tunnelled addresses, and all others
 * for special purposes (RFC 6890), are not.
 */
export function isPublicAddress(address: string): boolean {
  // With a zone, it is an address of a local network. The library also parses other notations of IPv4, such as 0x7f.1.
  if (address.includes('%') || isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(PUBLIC_IPV6, 3))
}

/** Whether the host of a URL is an address. `URL` has normalised all spellings of IPv4, and IPv6 is in brackets. */
export function addressOf(hostname: string): string | undefined {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(text) === 0 ? undefined : text
}
