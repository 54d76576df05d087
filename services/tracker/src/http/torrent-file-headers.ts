import { create } from 'content-disposition'

/**
 * Characters that are unsafe in file names or headers: control characters (C0, DEL, C1), path separators, characters
 * that Windows forbids, marks that change the reading direction, and unpaired surrogates.
 */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\:*?"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu

/** A safe file name: it cannot lead to another folder or be hidden. */
export function safeFileName(name: string): string {
  return name.replace(UNSAFE, '_').trim().replace(/^\.+/, '_')
}

/** The name in printable ASCII, for clients that ignore `filename*` (RFC 8187), such as curl. */
export function asciiFileName(name: string): string {
  return safeFileName(name).replace(/[^\x20-\x7e]|%/gu, '_')
}

/** The headers of a .torrent file. @param name of the torrent */
export function torrentFileHeaders(name: string) {
  const file = `${name}.torrent`
  return {
    'Content-Type': 'application/x-bittorrent',
    'Content-Disposition': create(safeFileName(file), { fallback: asciiFileName(file) }),
  }
}
