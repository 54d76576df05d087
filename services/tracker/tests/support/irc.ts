import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@vault-and-tracker/dev-env'
import { Client } from 'irc-framework'

/** A client of the library irc-framework, as members use one. */
export type IrcClient = {
  /** What was said in the channel. */
  readonly lines: readonly string[]
  /** How often it joined the channel. */
  joins(): number
  say(target: string, text: string): void
  /** The numerics of refusals. */
  readonly refusals: readonly string[]
  quit(): void
}

/** Signs in with SASL, and resolves in the channel. It connects again by itself. */
export async function joinIrc(
  where: { readonly host?: string; readonly port: number; readonly tls?: boolean },
  account: { readonly account: string; readonly password: string },
): Promise<IrcClient> {
  const client = new Client()
  const lines: string[] = []
  const refusals: string[] = []
  let joins = 0
  client.on('join', () => (joins += 1))
  client.on('privmsg', ({ nick, target, message }: Record<string, string>) => {
    if (nick === 'announce' && target === '#announce') lines.push(message ?? '')
  })
  client.on('irc error', ({ error }: { error: string }) => refusals.push(error))
  const options = { auto_reconnect: true, auto_reconnect_max_wait: 500, auto_reconnect_max_retries: 1_000 }
  client.connect({ host: '127.0.0.1', rejectUnauthorized: false, ...where, ...options, nick: 'listener', account })
  await eventually(() => joins > 0)
  return { lines, refusals, joins: () => joins, say: (to, text) => client.say(to, text), quit: () => client.quit() }
}

/** A connection that sends what a library would not. */
export type RawIrc = {
  readonly socket: Socket
  received(): string
  send(...lines: string[]): void
  /** Waits for a line that matches. */
  until(pattern: RegExp): Promise<void>
  isClosed(): boolean
}

export async function connectRaw(port: number): Promise<RawIrc> {
  const socket = connect(port, '127.0.0.1')
  let [received, isClosed] = ['', false]
  socket.on('data', (chunk) => (received += chunk.toString()))
  socket.on('error', () => undefined)
  socket.once('close', () => (isClosed = true))
  await once(socket, 'connect')
  return {
    socket,
    received: () => received,
    send: (...lines) => void socket.write(lines.map((line) => `${line}\r\n`).join('')),
    until: (pattern) => eventually(() => pattern.test(received)),
    isClosed: () => isClosed,
  }
}

/** The response of SASL PLAIN. */
export function plain(username: string, token: string): string {
  return Buffer.from(`\0${username}\0${token}`).toString('base64')
}

/** Writes a certificate for one day and its key to a folder. @returns the settings that name them */
export function makeCertificate(folder: string): { readonly IRC_TLS_CERT: string; readonly IRC_TLS_KEY: string } {
  const [IRC_TLS_CERT, IRC_TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=tracker.test'
  execFileSync('openssl', [...request.split(' '), '-keyout', IRC_TLS_KEY, '-out', IRC_TLS_CERT], { stdio: 'ignore' })
  return { IRC_TLS_CERT, IRC_TLS_KEY }
}
