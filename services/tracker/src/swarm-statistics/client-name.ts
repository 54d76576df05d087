import type { PeerId } from '@vault-and-tracker/bencode-tracker'

/** The two letters of Azureus-style peer ids (BEP 20), of the clients that are in use. */
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
 * What people call a client that names itself in its peer id (BEP 20): `qBittorrent 5.0.1`. Of one that is not known, the
 * printable characters that it begins with.
 */
export function clientName(peerId: PeerId): string {
  const text = Buffer.from(peerId, 'hex').toString('latin1')
  const [, code = '', version = ''] = /^-([A-Za-z0-9]{2})([0-9A-Za-z.]{4})-/.exec(text) ?? []
  const name = CLIENTS[code]
  if (name !== undefined) return `${name} ${versionOf(version)}`
  return /^[\x21-\x7e]{1,8}/.exec(text)?.[0] ?? 'unknown'
}

/** Four characters, a number each: a letter is ten or more. The last is left out where it is zero. */
function versionOf(characters: string): string {
  const numbers = Array.from(characters, (character) => Number.parseInt(character, 36)).filter((n) => !Number.isNaN(n))
  if (numbers.length === 4 && numbers[3] === 0) numbers.pop()
  return numbers.join('.')
}
