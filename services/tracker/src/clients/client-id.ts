import { type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'

/** The client that a peer id names. */
export type Client = {
  /** The characters that name it with its version, such as `-qB5010-`; the first printable ones if no convention applies. */
  readonly text: string
  /** The characters before the version, such as `-qB`; the same as `text` if no convention applies. */
  readonly prefix: string
  /** From major to minor; undefined if no convention applies. */
  readonly version: readonly number[] | undefined
}

/** Clients in use by their prefix (BEP 20). */
const NAMES: Readonly<Record<string, string>> = {
  '-A2': 'aria2',
  A2: 'aria2',
  '-AZ': 'Vuze',
  '-BC': 'BitComet',
  '-BI': 'BiglyBT',
  '-BT': 'BitTorrent',
  '-DE': 'Deluge',
  '-FD': 'Free Download Manager',
  '-FG': 'FlashGet',
  '-KT': 'KTorrent',
  '-LT': 'libtorrent',
  '-lt': 'rTorrent',
  '-qB': 'qBittorrent',
  '-TL': 'Tribler',
  '-TR': 'Transmission',
  '-UM': 'µTorrent Mac',
  '-UT': 'µTorrent',
  '-WD': 'WebTorrent Desktop',
  '-WW': 'WebTorrent',
  '-XL': 'Xunlei',
  M: 'BitTorrent',
  T: 'BitTornado',
}

/** `-qB5010-`: four digits, above 9 letters. */
const AZUREUS = /^(-[A-Za-z0-9~]{2})([0-9A-Za-z.]{4})-/
/** `M7-9-2--` of BitTorrent and `A2-1-37-0-` of aria2: decimal numbers. */
const MAINLINE = /^(A2-|M)(\d{1,3})-(\d{1,3})-(\d{1,3})-/
/** `T03A0----`: three to five digits, padded with dashes, and three dashes. */
const SHADOW = /^([AOQRSTU])(?=.{5}---)([0-9A-Za-z.]{3,5})-{3,5}/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.'

/**
 * Reads the client from a peer id by the conventions of BEP 20. Their digits are those of BitTornado, of which other
 * clients use the first 36.
 */
export function readClient(peerId: PeerId): Client {
  const text = Buffer.from(peerId, 'hex').toString('latin1')
  const [plain, mainline, ...numbers] = MAINLINE.exec(text) ?? []
  if (plain !== undefined && mainline !== undefined)
    return { text: plain, prefix: mainline.replace('-', ''), version: numbers.map(Number) }
  const [found, prefix, version] = AZUREUS.exec(text) ?? SHADOW.exec(text) ?? []
  if (found !== undefined && prefix !== undefined && version !== undefined)
    return { text: found, prefix, version: Array.from(version, (digit) => DIGITS.indexOf(digit)) }
  const first = /^[\x21-\x7e]{1,8}/.exec(text)?.[0] ?? 'unknown'
  return { text: first, prefix: first, version: undefined }
}

/** The peer id that starts with a text of up to 20 characters. */
export function peerIdFrom(text: string): PeerId | undefined {
  return parsePeerId(Buffer.from(text.padEnd(20, '\0'), 'latin1').toString('hex'))
}

/** The name of a client; its prefix if it is not a known one. */
export function nameOfPrefix(prefix: string): string {
  return NAMES[prefix] ?? prefix
}

/** A version as text. A final zero of four numbers is left out. */
export function versionText(version: readonly number[]): string {
  return (version.length === 4 && version[3] === 0 ? version.slice(0, 3) : version).join('.')
}

/** The name and version of a client from its peer id, such as `qBittorrent 5.0.1`. */
export function clientName(peerId: PeerId): string {
  const { text, prefix, version } = readClient(peerId)
  const name = nameOfPrefix(prefix)
  return version !== undefined && name !== prefix ? `${name} ${versionText(version)}` : text
}
