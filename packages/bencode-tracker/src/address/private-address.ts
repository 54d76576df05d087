import { addressFromText, unmapAddress } from './address.ts'

type Block = {
  readonly network: Uint8Array
  readonly bits: number
}

/** Addresses that the public internet does not route to a host (IANA special-purpose registries, RFC 6890). */
const IPV4_BLOCKS = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // RFC 1918
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // RFC 1918
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.168.0.0/16', // RFC 1918
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(parseBlock)

const IPV6_BLOCKS = [
  '::/96', // unspecified, loopback, deprecated v4-compatible
  '100::/64', // discard
  '2001:db8::/32', // documentation
  'fc00::/7', // unique local
  'fe80::/10', // link-local
  'fec0::/10', // deprecated site-local
  'ff00::/8', // multicast
].map(parseBlock)

const NAT64 = parseBlock('64:ff9b::/96')
const SIX_TO_FOUR = parseBlock('2002::/16')

/**
 * Whether an address of 4 or 16 bytes is unreachable for peers on the internet: loopback, private, link-local,
 * carrier-grade NAT, unique local, multicast, unspecified, documentation or reserved. An IPv4 address wrapped in IPv6
 * (mapped, NAT64, 6to4) counts as the IPv4 address; otherwise a spelling of 10.0.0.1 would pass. Any other number of
 * bytes counts as private.
 */
export function isPrivateAddress(address: Uint8Array): boolean {
  const plain = unmapAddress(address)
  if (plain.length === 4) return IPV4_BLOCKS.some((block) => isInside(plain, block))
  if (plain.length !== 16) return true
  if (isInside(plain, NAT64)) return isPrivateAddress(plain.subarray(12))
  if (isInside(plain, SIX_TO_FOUR)) return isPrivateAddress(plain.subarray(2, 6))
  return IPV6_BLOCKS.some((block) => isInside(plain, block))
}

function isInside(address: Uint8Array, { network, bits }: Block): boolean {
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) {
    if (address[i] !== network[i]) return false
  }
  const mask = (0xff00 >> (bits & 7)) & 0xff
  return ((address[whole] ?? 0) & mask) === ((network[whole] ?? 0) & mask)
}

function parseBlock(text: string): Block {
  const [address = '', bits] = text.split('/')
  const network = addressFromText(address)
  if (network === undefined) throw new TypeError(`Not an address block: ${text}`)
  return { network, bits: Number(bits) }
}
