/** The only channel, and who speaks in it. */
export const CHANNEL = '#announce'
export const ANNOUNCER = 'announce'

/** A message of a client. Its tags and source are ignored. */
export type IrcMessage = { readonly command: string; readonly parameters: readonly string[] }

/** Maximum bytes of the tags (IRCv3), and of the rest of a line without its end (RFC 1459 section 2.3). */
const MAX_TAGS = 4_096
const MAX_LINE = 510
/** A longer line is never complete. */
export const MAX_INPUT = MAX_TAGS + MAX_LINE + 2
const MAX_PARAMETERS = 15

/** Parses a line without its end; 'too long', or undefined for an empty one. */
export function parseMessage(line: string): IrcMessage | 'too long' | undefined {
  const [tags = ''] = /^@\S* */.exec(line) ?? []
  const rest = line.slice(tags.length)
  if (Buffer.byteLength(tags) > MAX_TAGS || Buffer.byteLength(rest) > MAX_LINE) return 'too long'
  const trailingAt = rest.search(/ :/)
  const words = (trailingAt === -1 ? rest : rest.slice(0, trailingAt)).split(' ').filter((word) => word !== '')
  if (words[0]?.startsWith(':') === true) words.shift()
  const [command, ...parameters] = words
  if (command === undefined) return undefined
  if (trailingAt !== -1) parameters.push(rest.slice(trailingAt + 2))
  return { command: command.toUpperCase(), parameters: parameters.slice(0, MAX_PARAMETERS) }
}

/** Whether a text may be a nickname. */
export function isNick(text: string): boolean {
  return /^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/.test(text)
}

/** What a SASL PLAIN response (RFC 4616) says; undefined if it is malformed. */
export function parsePlain(encoded: string): { readonly username: string; readonly token: string } | undefined {
  const [authorized, username, token, ...more] = Buffer.from(encoded, 'base64').toString('utf8').split('\0')
  if (username === undefined || token === undefined || more.length > 0) return undefined
  return authorized === '' || authorized === username ? { username, token } : undefined
}
