// Reads complete, ordinary GET requests (RFC 9112 sections 3 to 5) and leaves all others to node:http.

/** A request without a body. */
export type PlainRequest = {
  /** In origin form (RFC 9112 section 3.2.1), as sent. */
  readonly target: string
  /** Whether the connection stays open after the response (RFC 9112 section 9.3). */
  readonly keepAlive: boolean
  /** All X-Forwarded-For fields, joined. */
  readonly forwardedFor: string | undefined
  /** Its length in bytes. */
  readonly length: number
}

/** In bytes. Longer requests, and those with more fields, are left to node:http and its limits. */
const MAX_LENGTH = 8_192
const MAX_FIELDS = 32

// Both match every character in one way only, so they run in linear time.
/** request-line, section 3, with GET and a target of visible ASCII characters. */
const REQUEST_LINE = /GET (\/[!-~]*) HTTP\/1\.([01])\r\n/y
/** field-line, section 5: a token, and a value of visible characters, spaces and tabs, without obs-fold. */
const FIELD_LINE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)\r\n/y

/** Fields that determine where a message ends or what happens to the connection. */
const LEFT_TO_NODE = new Set([
  ...['content-length', 'transfer-encoding', 'te', 'trailer', 'expect', 'upgrade', 'http2-settings'],
  ...['proxy-connection', 'keep-alive'],
])

/**
 * Reads the request at the start of `bytes`.
 *
 * @returns undefined if it is incomplete or unusual
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
  // Section 3.2: an HTTP/1.1 request without Host gets 400, as does one with two.
  if (hosts > 1 || (hosts === 0 && minor === '1')) return undefined
  if (connection !== undefined && connection !== 'close' && connection !== 'keep-alive') return undefined
  return {
    target,
    keepAlive: minor === '1' ? connection !== 'close' : connection === 'keep-alive',
    forwardedFor,
    length: at + '\r\n'.length,
  }
}

/** Strips optional white space, that is spaces and tabs (RFC 9110 section 5.5). */
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
