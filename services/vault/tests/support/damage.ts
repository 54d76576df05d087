import { randomBytes } from 'node:crypto'
import type { Choices } from './choices.ts'
import type { Wire } from './signed-drafts.ts'

/** Changes to a message after it was signed. */
export const DAMAGE: readonly ((wire: Wire, choose: Choices) => void)[] = [
  (w, choose) => w.headers.splice(1 + choose.below(3), 1),
  (w, choose) => {
    const header = w.headers[1 + choose.below(3)]
    if (header !== undefined) w.headers.push([header[0], header[1]])
  },
  (w) => w.headers.push(['Host', 'evil.example']),
  (w, choose) =>
    (w.headers[0] = ['Host', choose.of(['evil.example', `${w.host}0`, `user@${w.host}`, `${w.host}/`, 'a b', ''])]),
  (w, choose) => damageText(w, 1, choose),
  (w, choose) => damageText(w, 2, choose),
  (w, choose) => damageAgent(w, choose),
  (w, choose) =>
    (w.headers[1] = ['Signature', `sig1=:${randomBytes(choose.of([0, 1, 63, 64, 65, 600])).toString('base64')}:`]),
  (w, choose) =>
    (w.headers[1] = ['Signature', choose.of(['sig1', 'sig1=', 'sig1=::', 'sig1=?1', 'sig1=:====:', ',', ':'])]),
  (w, choose) =>
    (w.method = choose.of(
      ['GET', 'PUT', 'DELETE', 'POST', 'HEAD', 'PATCH', 'OPTIONS'].filter((method) => method !== w.method),
    )),
  (w, choose) =>
    (w.path += choose.of([
      '?',
      '&',
      '%',
      '%00',
      '/',
      '//',
      '?env=a',
      '&env=b',
      '%2e',
      ';x',
      '?x[y]=1',
      '\u00e9'.normalize().replace(/[^ -~]/g, '~'),
    ])),
  (w, choose) =>
    (w.path = choose.of([
      '//v1/secrets',
      '/v1/secrets/../secrets',
      '/V1/secrets',
      '/v1/secrets%3Fenv=fuzz',
      `http://${w.host}/v1/secrets?x`,
    ])),
  (w, choose) => {
    if (w.body === '') w.method = 'POST'
    else w.body = choose.of([w.body.replace('K', 'L'), `${w.body} `, w.body.slice(1), '', '{}', `${w.body}${w.body}`])
  },
]

/** Replaces, removes, doubles or inserts a character, except at the ends, where white space is ignored. */
function damageText(wire: Wire, header: number, choose: Choices): void {
  const [name, text] = wire.headers[header] ?? ['Signature', 'sig1=:AAAA:']
  const at = 1 + choose.below(text.length - 2)
  const char = choose.of(
    Array.from('aA0:;,="()\\ *?-.\u00e9').filter((other) => other !== text[at] && other !== text[at - 1]),
  )
  const [before, after] = [text.slice(0, at), text.slice(at + 1)]
  const damaged = choose.of([
    before + char + after,
    before + char + text.slice(at),
    before + after,
    text.slice(0, at + 1) + text.slice(at),
  ])
  wire.headers[header] = [name, damaged === text ? `${text}x` : damaged]
}

/** As above, but never only the case of the public key's digits, which is ignored. */
function damageAgent(wire: Wire, choose: Choices): void {
  const [, before] = wire.headers[3] ?? ['', '']
  damageText(wire, 3, choose)
  const [name, after] = wire.headers[3] ?? ['Signature-Agent', '']
  if (after.toLowerCase() === before.toLowerCase()) wire.headers[3] = [name, `${after}x`]
}

/** The meaning of a message, which does not depend on the order of its headers. */
export function meaning({ method, path, headers, body }: Wire): string {
  return JSON.stringify([method, path, headers.map((header) => header.join(': ')).toSorted(), body])
}
