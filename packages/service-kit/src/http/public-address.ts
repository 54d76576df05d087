import { BlockList, isIP, isIPv4 } from 'node:net'

/** Special-purpose addresses (IANA registry, RFC 6890): this machine, private and shared networks, link-local, multicast. */
const IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/** Of 2000::/3, which are all public IPv6 addresses: those for special purposes, and those that contain an IPv4 address. */
const IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const PUBLIC_IPV6 = new BlockList()
PUBLIC_IPV6.addSubnet('2000::', 3, 'ipv6')

const special = new BlockList()
for (const range of [...IPV4, ...IPV6]) {
  const [network = '', bits] = range.split('/')
  special.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6')
}

/** Whether an address is reachable on the internet. IPv4-mapped, translated (NAT64) and tunnelled addresses are not. */
export function isPublicAddress(address: string): boolean {
  // With a zone, it is an address of a local network.
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && PUBLIC_IPV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Whether the host of a URL is an address. `URL` has normalised all spellings of IPv4, and IPv6 is in brackets. */
export function addressOf(hostname: string): string | undefined {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(text) === 0 ? undefined : text
}
