// The parts of the npm package bittorrent-tracker, which has no types, that tests and the bench use.
declare module 'bittorrent-tracker/client' {
  import type { EventEmitter } from 'node:events'

  type Transferred = { left: number; uploaded: number; downloaded: number }

  export default class Client extends EventEmitter {
    constructor(options: { announce: string; infoHash: string; peerId: string; port: number; wrtc?: object })
    start(transferred: Transferred): void
    complete(transferred: Transferred): void
    stop(transferred: Transferred): void
    scrape(): void
    destroy(): void
  }
}

declare module 'bittorrent-tracker/server' {
  import type { EventEmitter } from 'node:events'

  export default class Server extends EventEmitter {
    constructor(options: { udp: boolean; ws: boolean; http: boolean; stats: boolean })
    listen(port: number, host: string): void
  }
}
