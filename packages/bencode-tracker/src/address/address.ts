import { hexValue } from '../ids.ts'

/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const MAX_TEXT_LENGTH = 45
const ZERO = 0x30

/**
 * Parses an IPv4 or IPv6 address into 4 or 16 bytes in network order. Returns `undefined` for anything else. A
 * v4-mapped IPv6 address (`::ffff:192.0.2.1`, as dual-stack sockets report it) becomes 4 bytes, so that no peer has two
 * addresses. A zone (`%eth0`) is refused, because it has no meaning on another host.
 */
export function addressFromText(text: string): Uint8Array | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  if (!text.includes(':')) return ipv4FromText(text)
  const address = ipv6FromText(text)
  return address === undefined ? undefined : unmapAddress(address)
}

/** Writes 4 bytes as `192.0.2.1` and 16 bytes in the canonical form of RFC 5952. */
export function addressToText(address: Uint8Array): string {
  return address.length === 4 ? dotted(address, 0) : ipv6ToText(address)
}

/** Returns the 4 bytes within a v4-mapped IPv6 address (`::ffff:0:0/96`), and any other address unchanged. */
export function unmapAddress(address: Uint8Array): Uint8Array {
  return isV4Mapped(address) ? address.subarray(12) : address
}

function isV4Mapped(address: Uint8Array): boolean {
  if (address.length !== 16 || address[10] !== 0xff || address[11] !== 0xff) return false
  return address.subarray(0, 10).every((byte) => byte === 0)
}

function ipv4FromText(text: string): Uint8Array | undefined {
  const address = new Uint8Array(4)
  let start = 0
  for (let i = 0; i < 4; i++) {
    const dot = text.indexOf('.', start)
    if ((dot === -1) !== (i === 3)) return undefined
    const end = dot === -1 ? text.length : dot
    const octet = octetFromText(text, start, end)
    if (octet < 0) return undefined
    address[i] = octet
    start = end + 1
  }
  return address
}

/** 1 to 3 digits up to 255. A leading zero is refused because some parsers read it as octal. */
function octetFromText(text: string, start: number, end: number): number {
  if (end - start < 1 || end - start > 3 || (end - start > 1 && text.charCodeAt(start) === ZERO)) return -1
  let octet = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (!(digit >= 0 && digit <= 9)) return -1
    octet = octet * 10 + digit
  }
  return octet > 255 ? -1 : octet
}

function ipv6FromText(text: string): Uint8Array | undefined {
  const sides = text.split('::')
  const [before = '', after] = sides
  if (sides.length > 2) return undefined
  const head = groupsOf(before, after === undefined)
  const tail = groupsOf(after ?? '', true)
  if (head === undefined || tail === undefined) return undefined
  const gap = 8 - head.length - tail.length
  if (after === undefined ? gap !== 0 : gap < 1) return undefined
  const address = new Uint8Array(16)
  head.forEach((group, i) => writeGroup(address, i, group))
  tail.forEach((group, i) => writeGroup(address, head.length + gap + i, group))
  return address
}

/** The 16-bit groups of one side of a `::`; the last group of the text may be a dotted IPv4 address. */
function groupsOf(text: string, isLastSide: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (part.includes('.')) {
      const dotted = isLastSide && i === parts.length - 1 ? ipv4FromText(part) : undefined
      if (dotted === undefined) return undefined
      const [a = 0, b = 0, c = 0, d = 0] = dotted
      groups.push(a * 256 + b, c * 256 + d)
    } else {
      const group = groupFromHex(part)
      if (group < 0) return undefined
      groups.push(group)
    }
  }
  return groups
}

function groupFromHex(text: string): number {
  if (text.length < 1 || text.length > 4) return -1
  let group = 0
  for (let i = 0; i < text.length; i++) {
    const value = hexValue(text.charCodeAt(i))
    if (value < 0) return -1
    group = group * 16 + value
  }
  return group
}

function writeGroup(address: Uint8Array, index: number, group: number): void {
  address[index * 2] = group >> 8
  address[index * 2 + 1] = group & 0xff
}

/** Unrolled, because `join` of a typed array takes twice as long. */
function dotted(bytes: Uint8Array, at: number): string {
  return `${bytes[at] ?? 0}.${bytes[at + 1] ?? 0}.${bytes[at + 2] ?? 0}.${bytes[at + 3] ?? 0}`
}

function ipv6ToText(address: Uint8Array): string {
  if (isV4Mapped(address)) return `::ffff:${dotted(address, 12)}`
  const groups = Array.from({ length: 8 }, (_, i) => (address[i * 2] ?? 0) * 256 + (address[i * 2 + 1] ?? 0))
  const run = longestZeroRun(groups)
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':')
  if (run.length < 2) return hex(groups)
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`
}

/** The first of the longest runs of zero groups, which RFC 5952 writes as `::` if it has at least two groups. */
function longestZeroRun(groups: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  let start = 0
  for (const [i, group] of groups.entries()) {
    if (group !== 0) start = i + 1
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start }
  }
  return best
}
