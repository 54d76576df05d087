import { createHash, randomBytes, sign } from 'node:crypto'
import type { Choices } from './choices.ts'
import { type Key, newKey } from './client.ts'

/** A request to send; `host` is that of the vault, regardless of the headers. */
export type Wire = { host: string; method: string; path: string; headers: [string, string][]; body: string }

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

/** A valid request of the project `shop` to the vault at this host. */
export function draft(choose: Choices, key: Key, host: string): Draft {
  const body =
    choose.below(2) === 0 ? '' : JSON.stringify({ key: 'K', value: `v${String(choose.below(100))}`, env: 'fuzz' })
  const created = Math.floor(Date.now() / 1000) - choose.below(100)
  const isWrite = body !== ''
  return {
    method: isWrite ? 'PUT' : 'GET',
    path: isWrite ? '/v1/secrets' : choose.of(['/v1/secrets', '/v1/secrets?env=fuzz', '/v1/secrets?env=fuzz&n=%20']),
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
}

/** Signs a draft, valid or not. */
export function signed(message: Draft): Wire {
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
  return {
    host,
    method: message.method,
    path: message.path,
    headers: [
      ['Host', host],
      ['Signature', `${message.label}=:${signature}:`],
      ['Signature-Input', `${message.label}=${params}`],
      ['Signature-Agent', message.agent],
      ...(message.digest === undefined ? [] : [['Content-Digest', message.digest] as [string, string]]),
      ...(message.body === '' ? [] : [['Content-Type', 'application/json'] as [string, string]]),
    ],
    body: message.body,
  }
}

const otherKey = newKey()

/** Messages that are signed correctly but invalid. */
export const WRONG_DRAFTS: readonly ((message: Draft, choose: Choices) => void)[] = [
  (m, choose) => {
    m.params = m.params.filter(([name]) => name !== choose.of(['created', 'expires', 'nonce', 'keyid']))
    if (m.params.length === 4) m.params.pop()
  },
  (m, choose) =>
    m.params.push(
      choose.of([
        ['alg', '"rsa-pss-sha512"'],
        ['tag', '"x"'],
        ['nonce', '"00"'],
        ['created', '1'],
        ['x', '1'],
      ]),
    ),
  (m, choose) => (m.params[0] = ['created', choose.of(['0', '-1', '1.5', '"1"', '99999999999', '1e9', ''])]),
  (m, choose) => shift(m, choose.of([-301, -400, -100_000, 402, 500, 100_000])),
  (m, choose) =>
    (m.params[1] = ['expires', String(Number(m.params[0]?.[1]) + choose.of([0, 1, 299, 301, 3_600, -300]))]),
  (m, choose) =>
    (m.params[2] = [
      'nonce',
      choose.of(['""', '"x"', `"${'0'.repeat(31)}"`, `"${'g'.repeat(32)}"`, `"${'0'.repeat(33)}"`, '1']),
    ]),
  (m, choose) =>
    (m.params[3] = [
      'keyid',
      choose.of([
        '"shop"',
        '"other.agents.vault.local"',
        '"shop.agents.vault.local "',
        '".agents.vault.local"',
        'shop',
      ]),
    ]),
  (m, choose) => m.components.splice(choose.below(3), 1),
  (m) => m.components.reverse(),
  (m, choose) => m.components.push(choose.of(['"@path"', '"@method"', '"host"', '"@query"', '"@target-uri";req'])),
  (m, choose) => (m.label = choose.of(['sig2', 'Sig1', 'sig', '*', ''])),
  (m) => (m.signer = otherKey),
  (m) => {
    m.agent = m.agent.replace(m.signer.publicKeyHex, otherKey.publicKeyHex)
    m.signer = otherKey
  },
  (m, choose) =>
    (m.agent = m.agent.replace(
      'shop',
      choose.of(['shop2', 'Shop', 'sho', '', 'a b', '__proto__', '../shop', 'x'.repeat(300)]),
    )),
  (m, choose) =>
    (m.agent = choose.of([
      `${m.agent}, ${m.agent}`,
      `${m.agent};x=1`,
      m.agent.replace('"', ''),
      m.agent.replace(';', ' ; '),
      'sig1=shop',
      '=',
    ])),
]

function shift(message: Draft, seconds: number): void {
  const created = Number(message.params[0]?.[1]) + seconds
  message.params[0] = ['created', String(created)]
  message.params[1] = ['expires', String(created + 300)]
}
