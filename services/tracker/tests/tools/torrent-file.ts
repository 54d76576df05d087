/** Whether bytes are a bencoded dictionary, the minimum that tools require of a .torrent file. */
export function isTorrentFile(bytes: Uint8Array): boolean {
  return bytes[0] === 0x64 && bytes.at(-1) === 0x65
}
