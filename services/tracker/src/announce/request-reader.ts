// Reads whole, unremarkable GET requests (RFC 9112 sections 3 to 5). It refuses nothing: what it does not read, node:http does.

/** A request without a body. */
export type PlainRequest = {
  /** The origin form (RFC 9112 section 3.2.1), as it was sent. */
  readonly target: string
  /** Whether the connection stays open behind the answer (RFC 9112 section 9.3). */
  readonly keepAlive: boolean
  /** All X-Forwarded-For together, if any. */
  readonly forwardedFor: string | undefined
  /** How many bytes it has. */
  readonly length: number
}

/** In bytes. Longer requests, and those with more fields, are left to node:http, which has limits of its own. */
const MAX_LENGTH = 8_192
const MAX_FIELDS = 32

// Both match a character in one way only, so the time they take grows with the length alone.
/** request-line, section 3, with GET and a target of visible ASCII characters. */
const REQUEST_LINE = /GET (\/[!-~]*) HTTP\/1\.([01])\r\n/y
/** field-line, section 5: a token, and a value of visible characters, spaces and tabs, without obs-fold. */
const FIELD_LINE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)\r\n/y

/** Fields that say where a message ends, or what becomes of the connection. */
const LEFT_TO_NODE = new Set([
  ...['content-length', 'transfer-encoding', 'te', 'trailer', 'expect', 'upgrade', 'http2-settings'],
  ...['proxy-connection', 'keep-alive'],
])

/**
 * Reads the request that bytes begin with.
 *
 * @returns undefined where it is not whole, or is odd in any way
 */
export function readPlainRequest(bytes: Buffer): PlainRequest | undefined {
  const text = bytes.toString('latin1', 0, MAX_LENGTH)
  REQUEST_LINE.lastIndex = 0
  const line = REQUEST_LINE.exec(text)
  if (line === null) return undefined
  const [, target = '', minor] = line
  let at = REQUEST_LINE.lastIndex
  let hosts = 0
  let connection: string | undefined
  let forwardedFor: string | undefined
  for (let fields = 0; !text.startsWith('\r\n', at); fields++) {
    FIELD_LINE.lastIndex = at
    const field = fields < MAX_FIELDS ? FIELD_LINE.exec(text) : null
    if (field === null) return undefined
    at = FIELD_LINE.lastIndex
    const [, name = '', value = ''] = field
    switch (name.toLowerCase()) {
      case 'host':
        hosts += 1
        break
      case 'connection':
        if (connection !== undefined) return undefined
        connection = withoutSpace(value).toLowerCase()
        break
      case 'x-forwarded-for':
        forwardedFor = `${forwardedFor === undefined ? '' : `${forwardedFor}, `}${withoutSpace(value)}`
        break
      default:
        if (LEFT_TO_NODE.has(name.toLowerCase())) return undefined
    }
  }
  // Section 3.2: a request of HTTP/1.1 without Host is answered with 400, and so may be one with two.
  if (hosts > 1 || (hosts === 0 && minor === '1')) return undefined
  if (connection !== undefined && connection !== 'close' && connection !== 'keep-alive') return undefined
  return {
    target,
    keepAlive: minor === '1' ? connection !== 'close' : connection === 'keep-alive',
    forwardedFor,
    length: at + '\r\n'.length,
  }
}

/** A value without the optional white space around it (RFC 9110 section 5.5), which is spaces and tabs alone. */
function withoutSpace(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isSpace(value[start])) start++
  while (start < end && isSpace(value[end - 1])) end--
  return value.slice(start, end)
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
