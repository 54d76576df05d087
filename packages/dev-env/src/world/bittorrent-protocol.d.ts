/** The part of the npm package bittorrent-protocol, which has no types, that the clients of the demo use. */
declare module 'bittorrent-protocol' {
  import type { Duplex } from 'node:stream'

  /** One end of a connection between peers (BEP 3). Info hashes and peer ids are in hex. */
  type Wire = Duplex & {
    handshake(infoHash: string, peerId: string): void
    bitfield(pieces: Uint8Array): void
    interested(): void
    unchoke(): void
    request(piece: number, offset: number, length: number, done: (error: Error | null, block: Uint8Array) => void): void
    on(event: 'handshake', listener: (infoHash: string) => void): Wire
    on(event: 'interested' | 'unchoke' | 'close', listener: () => void): Wire
    on(event: 'error', listener: (error: Error) => void): Wire
    on(
      event: 'request',
      listener: (
        piece: number,
        offset: number,
        length: number,
        respond: (error: Error | null, block: Uint8Array) => void,
      ) => void,
    ): Wire
  }
  const Wire: new () => Wire
  export default Wire
}
