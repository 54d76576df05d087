import { createHash, randomBytes, sign } from 'node:crypto'
import fc from 'fast-check'
import { type Key, newKey } from './client.ts'

/** The signed parts, so that a mutation can sign wrong ones correctly. */
export type Draft = {
  method: string
  path: string
  components: string[]
  params: [string, string][]
  label: string
  agent: string
  signer: Key
  host: string
  digest: string | undefined
  body: string
}

/** Valid requests of the project `shop`, made when they are sent, because signatures expire. */
export const drafts: fc.Arbitrary<(key: Key, host: string) => Draft> = fc
  .record({
    body: fc.option(
      fc.nat(99).map((value) => JSON.stringify({ key: 'K', value: `v${String(value)}`, env: 'fuzz' })),
      { nil: '' },
    ),
    path: fc.constantFrom('/v1/secrets', '/v1/secrets?env=fuzz', '/v1/secrets?env=fuzz&n=%20'),
    ageSeconds: fc.nat(99),
  })
  .map(({ body, path, ageSeconds }) => (key, host) => {
    const created = Math.floor(Date.now() / 1000) - ageSeconds
    const isWrite = body !== ''
    return {
      method: isWrite ? 'PUT' : 'GET',
      path: isWrite ? '/v1/secrets' : path,
      components: ['"@method"', '"@authority"', '"@target-uri"', ...(isWrite ? ['"content-digest"'] : [])],
      params: [
        ['created', String(created)],
        ['expires', String(created + 300)],
        ['nonce', `"${randomBytes(16).toString('hex')}"`],
        ['keyid', '"shop.agents.vault.local"'],
      ],
      label: 'sig1',
      agent: `sig1=shop.agents.vault.local;pubkey="${key.publicKeyHex}"`,
      signer: key,
      host,
      digest: isWrite ? `sha-256=:${createHash('sha256').update(body).digest('base64')}:` : undefined,
      body,
    }
  })

/** Signs a draft, valid or not, and writes it as HTTP/1.1. */
export function signed(message: Draft): string {
  const { host } = message
  const values: Record<string, string> = {
    '"@method"': message.method,
    '"@authority"': host,
    '"@target-uri"': `http://${host}${message.path}`,
    '"@path"': message.path,
    '"content-digest"': message.digest ?? '',
  }
  const params = `(${message.components.join(' ')})${message.params.map(([name, value]) => `;${name}=${value}`).join('')}`
  const lines = [
    ...message.components.map((name) => `${name}: ${values[name] ?? ''}`),
    `"@signature-params": ${params}`,
  ]
  const signature = sign(null, Buffer.from(lines.join('\n')), message.signer.privateKey).toString('base64')
  const head = [
    `${message.method} ${message.path} HTTP/1.1`,
    `Host: ${host}`,
    `Signature: ${message.label}=:${signature}:`,
    `Signature-Input: ${message.label}=${params}`,
    `Signature-Agent: ${message.agent}`,
    ...(message.digest === undefined ? [] : [`Content-Digest: ${message.digest}`]),
    ...(message.body === ''
      ? []
      : ['Content-Type: application/json', `Content-Length: ${String(message.body.length)}`]),
  ]
  return `${head.join('\r\n')}\r\n\r\n${message.body}`
}

const otherKey = newKey()

type Change = (message: Draft) => void

/** Changes that each make one of these values invalid. */
function changes<T>(make: (message: Draft, value: T) => void, ...values: T[]): fc.Arbitrary<Change> {
  return fc.constantFrom(...values).map((value) => (message) => make(message, value))
}

/** Changes to a draft that is signed correctly afterwards, and invalid. */
export const wrongs: fc.Arbitrary<Change> = fc.oneof(
  changes(
    (m, name) => (m.params = m.params.filter(([other]) => other !== name)),
    'created',
    'expires',
    'nonce',
    'keyid',
  ),
  changes<[string, string]>(
    (m, parameter) => m.params.push(parameter),
    ...([
      ['alg', '"rsa-pss-sha512"'],
      ['tag', '"x"'],
      ['nonce', '"00"'],
      ['created', '1'],
      ['x', '1'],
    ] as [string, string][]),
  ),
  changes((m, created) => (m.params[0] = ['created', created]), '0', '-1', '1.5', '"1"', '99999999999', '1e9', ''),
  changes(shift, -301, -400, -100_000, 402, 500, 100_000),
  changes(
    (m, seconds) => (m.params[1] = ['expires', String(Number(m.params[0]?.[1]) + seconds)]),
    ...[0, 1, 299, 301, 3_600, -300],
  ),
  changes(
    (m, nonce) => (m.params[2] = ['nonce', nonce]),
    ...['""', '"x"', `"${'0'.repeat(31)}"`, `"${'g'.repeat(32)}"`, `"${'0'.repeat(33)}"`, '1'],
  ),
  changes(
    (m, id) => (m.params[3] = ['keyid', id]),
    ...['"shop"', '"other.agents.vault.local"', '"shop.agents.vault.local "', '".agents.vault.local"', 'shop'],
  ),
  changes((m, at) => m.components.splice(at, 1), 0, 1, 2),
  changes((m) => m.components.reverse(), undefined),
  changes((m, name) => m.components.push(name), '"@path"', '"@method"', '"host"', '"@query"', '"@target-uri";req'),
  changes((m, label) => (m.label = label), 'sig2', 'Sig1', 'sig', '*', ''),
  changes((m) => (m.signer = otherKey), undefined),
  changes((m) => {
    m.agent = m.agent.replace(m.signer.publicKeyHex, otherKey.publicKeyHex)
    m.signer = otherKey
  }, undefined),
  changes(
    (m, name) => (m.agent = m.agent.replace('shop', name)),
    ...['shop2', 'Shop', 'sho', '', 'a b', '__proto__', '../shop', 'x'.repeat(300)],
  ),
  changes<(agent: string) => string>(
    (m, rewrite) => (m.agent = rewrite(m.agent)),
    (agent) => `${agent}, ${agent}`,
    (agent) => `${agent};x=1`,
    (agent) => agent.replace('"', ''),
    (agent) => agent.replace(';', ' ; '),
    () => 'sig1=shop',
    () => '=',
  ),
)

function shift(message: Draft, seconds: number): void {
  const created = Number(message.params[0]?.[1]) + seconds
  message.params[0] = ['created', String(created)]
  message.params[1] = ['expires', String(created + 300)]
}
