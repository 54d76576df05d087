// Reads whole, unremarkable GET requests (RFC 9112 sections 3 to 5). It refuses nothing: what it does not read, node:http does.

/** A request without a body. */
export type PlainRequest = {
  /** The origin form (RFC 9112 section 3.2.1), as it was sent. */
  readonly target: string
  /** Whether the connection stays open behind the answer (RFC 9112 section 9.3). */
  readonly keepAlive: boolean
  /** All X-Forwarded-For together, if any. */
  readonly forwardedFor: string | undefined
  /** Where the next request starts. */
  readonly end: number
}

/** Longer ones are left to node:http, which has limits of its own. */
const MAX_LENGTH = 8_192
const MAX_FIELDS = 32

/** request-line, section 3, with GET and a target of visible ASCII characters. */
const REQUEST_LINE = /GET (\/[!-~]*) HTTP\/1\.([01])\r\n/y
/** field-line, section 5: a token, and a value of visible characters, spaces and tabs, without obs-fold. */
const FIELD = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff]+(?:[ \t]+(?=[!-~\x80-\xff]))?)*)[ \t]*\r\n/y
/** Fields that say where a message ends, or what becomes of the connection. */
const LEFT_TO_NODE =
  /^(?:content-length|transfer-encoding|upgrade|expect|proxy-connection|http2-settings|te|trailer|keep-alive)$/

/**
 * Reads the request that starts at a position.
 *
 * @param text one character for each byte
 * @returns undefined where it does not end here, or is odd in any way
 */
export function readPlainRequest(text: string, at: number): PlainRequest | undefined {
  REQUEST_LINE.lastIndex = at
  const line = REQUEST_LINE.exec(text)
  if (line === null) return undefined
  const [, target = '', minor] = line
  let [hosts, connection, forwardedFor]: [number, string | undefined, string | undefined] = [0, undefined, undefined]
  FIELD.lastIndex = REQUEST_LINE.lastIndex
  let end = FIELD.lastIndex
  for (let fields = 0; !text.startsWith('\r\n', end); fields++) {
    const field = fields < MAX_FIELDS ? FIELD.exec(text) : null
    if (field === null) return undefined
    end = FIELD.lastIndex
    const [, name = '', value = ''] = field
    switch (name.toLowerCase()) {
      case 'host':
        hosts += 1
        break
      case 'connection':
        if (connection !== undefined) return undefined
        connection = value.toLowerCase()
        break
      case 'x-forwarded-for':
        forwardedFor = forwardedFor === undefined ? value : `${forwardedFor}, ${value}`
        break
      default:
        if (LEFT_TO_NODE.test(name.toLowerCase())) return undefined
    }
  }
  end += 2
  // Section 3.2: without Host a request of HTTP/1.1 is answered with 400.
  if (hosts > 1 || (hosts === 0 && minor === '1') || end - at > MAX_LENGTH) return undefined
  if (connection !== undefined && connection !== 'close' && connection !== 'keep-alive') return undefined
  const keepAlive = minor === '1' ? connection !== 'close' : connection === 'keep-alive'
  return { target, keepAlive, forwardedFor, end }
}
