declare module 'irc-framework' {
  import type { EventEmitter } from 'node:events'

  /** The part of the library that the tests use. */
  export class Client extends EventEmitter {
    connect(options: {
      readonly host: string
      readonly port: number
      readonly tls?: boolean
      readonly rejectUnauthorized?: boolean
      readonly nick: string
      readonly account?: { readonly account: string; readonly password: string }
      readonly auto_reconnect?: boolean
      readonly auto_reconnect_max_wait?: number
      readonly auto_reconnect_max_retries?: number
      readonly ping_interval?: number
    }): void
    say(target: string, text: string): void
    join(channel: string): void
    raw(...line: readonly string[]): void
    quit(reason?: string): void
  }
}
