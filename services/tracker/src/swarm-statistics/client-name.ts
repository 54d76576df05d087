import type { PeerId } from '@vault-and-tracker/bencode-tracker'

/** Clients in use by the two letters of their Azureus-style peer ids (BEP 20). */
const CLIENTS: Readonly<Record<string, string>> = {
  A2: 'aria2',
  AZ: 'Vuze',
  BC: 'BitComet',
  BI: 'BiglyBT',
  BT: 'BitTorrent',
  DE: 'Deluge',
  FD: 'Free Download Manager',
  FG: 'FlashGet',
  KT: 'KTorrent',
  LT: 'libtorrent',
  lt: 'rTorrent',
  qB: 'qBittorrent',
  TL: 'Tribler',
  TR: 'Transmission',
  UM: 'µTorrent Mac',
  UT: 'µTorrent',
  WD: 'WebTorrent Desktop',
  WW: 'WebTorrent',
  XL: 'Xunlei',
}

/**
 * The name and version of a client from its peer id (BEP 20), such as `qBittorrent 5.0.1`. For unknown clients, the first
 * printable characters.
 */
export function clientName(peerId: PeerId): string {
  const text = Buffer.from(peerId, 'hex').toString('latin1')
  const [, code = '', version = ''] = /^-([A-Za-z0-9]{2})([0-9A-Za-z.]{4})-/.exec(text) ?? []
  const name = CLIENTS[code]
  if (name !== undefined) return `${name} ${versionOf(version)}`
  return /^[\x21-\x7e]{1,8}/.exec(text)?.[0] ?? 'unknown'
}

/** Four base-36 digits, one per number. A final zero is left out. */
function versionOf(characters: string): string {
  const numbers = Array.from(characters, (character) => Number.parseInt(character, 36)).filter((n) => !Number.isNaN(n))
  if (numbers.length === 4 && numbers[3] === 0) numbers.pop()
  return numbers.join('.')
}
