/** Parts of requests: mostly ordinary, so that the front reads some of them, and some unusual. */
const METHODS = [...repeat('GET', 6), 'HEAD', 'POST', 'OPTIONS']
const TARGETS = [
  ...['/announce', '/announce?a=1', '/scrape?b=1', '/announce?limit', '/announce/abc?x=%00'],
  ...['/other', 'http://x/announce', '*', '/announce?a=\xe9', '/announce#x', `/announce?${'a'.repeat(300)}`],
]
const PLAIN_TARGETS = 5
const PLAIN_NAMES = ['User-Agent', 'Accept-Encoding', 'X-Forwarded-For', 'x-forwarded-for', 'Accept']
const PLAIN_VALUES = ['x', '1.2.3.4', '1.2.3.4, 5.6.7.8', 'a b', 'a\tb ', '\xe9', '', 'y'.repeat(60)]
const VERSIONS = ['1.0', ...repeat('1.1', 5)]
const NAMES = [
  ...['Host', 'User-Agent', 'X-Forwarded-For', 'Connection', 'Accept', 'x-forwarded-for', 'X-Y', 'cookie'],
  ...['Content-Length', 'Transfer-Encoding', 'TE', 'Upgrade', 'Expect', 'Keep-Alive', 'Proxy-Connection', 'X Y', ''],
]
const COLONS = [...repeat(': ', 5), ':', ':\t', ' : ', ':  ', '']
const VALUES = [
  ...['x', '1.2.3.4', '1.2.3.4, 5.6.7.8', 'a b', 'a\tb ', '\xe9', '', 'y'.repeat(60)],
  ...[
    'close',
    'keep-alive',
    'Keep-Alive',
    'upgrade',
    '0',
    '3',
    '3, 3',
    'chunked',
    'h2c',
    '100-continue',
    '\0',
    'a\r\n b',
  ],
]
const LINE_ENDS = [...repeat('\r\n', 20), '\n', '\r']
const BODIES = [...repeat('', 6), 'abc', '3\r\nabc\r\n0\r\n\r\n']

/**
 * Makes messages: one to four requests in a row, most of them plain. One message in three has a byte more, less or another, or
 * ends early. Each comes in one to four pieces or, one in twenty, byte by byte.
 *
 * @param random a number from 0 to 1, without 1
 * @returns a function that makes the next message, as the pieces it is sent in
 */
export function messagesFrom(random: () => number): () => string[] {
  const below = (n: number): number => Math.floor(random() * n)
  const one = <T>(all: readonly T[]): T => all[below(all.length)] as T
  const field = (): string => `${one(NAMES)}${one(COLONS)}${one(VALUES)}${one(LINE_ENDS)}`
  const plain = (): string =>
    `GET ${one(TARGETS.slice(0, PLAIN_TARGETS))} HTTP/1.${one(['0', '1', '1', '1'])}\r\nHost: x\r\n` +
    Array.from({ length: below(4) }, () => `${one(PLAIN_NAMES)}: ${one(PLAIN_VALUES)}\r\n`).join('') +
    `${one([...repeat('', 19), 'X: y\r\n'.repeat(100)])}${one(['', '', '', 'Connection: keep-alive\r\n', 'connection:close\r\n'])}\r\n`
  const odd = (): string =>
    `${one(METHODS)} ${one(TARGETS)} HTTP/${one(VERSIONS)}\r\n${one(['Host: x\r\n', 'Host: x\r\n', 'Host: x\r\n', ''])}` +
    `${Array.from({ length: one([0, 0, 1, 1, 2, 3]) }, field).join('')}\r\n${one(BODIES)}`
  const damaged = (text: string): string => {
    const at = below(text.length)
    const byte = String.fromCharCode(below(256))
    const behind = text.slice(at + below(2))
    return text.slice(0, at) + one(['', byte, byte]) + one([behind, behind, behind, ''])
  }
  const inPieces = (text: string): string[] => {
    if (text.length < 300 && below(20) === 0) return Array.from(text)
    const cuts = Array.from({ length: one([0, 0, 1, 2, 3]) }, () => below(text.length)).toSorted((a, b) => a - b)
    return [...cuts, text.length].map((cut, i) => text.slice(cuts[i - 1] ?? 0, cut)).filter((piece) => piece !== '')
  }
  return () => {
    const text = Array.from({ length: one([1, 1, 2, 3, 4]) }, () => one([plain, plain, odd])()).join('')
    return inPieces(below(3) === 0 ? damaged(text) : text)
  }
}

function repeat(text: string, times: number): string[] {
  return Array.from({ length: times }, () => text)
}
