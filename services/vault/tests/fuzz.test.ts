import { createHash, randomBytes, sign } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createProject, type Key, newKey } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

const CASES = Number(process.env['FUZZ_CASES'] ?? 10_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121)
const IN_FLIGHT = 16

let vault: TestVault
let key: Key
let host: string
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  host = new URL(vault.url).host
})
afterAll(async () => {
  agent.destroy()
  await vault.stop()
})

/** mulberry32: small, seedable, good enough to choose mutations with. */
function randomSource(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

class Choices {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomSource(seed)
  }

  below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
}

type Wire = { method: string; path: string; headers: [string, string][]; body: string }

/** What is signed, in parts, so that a mutation can sign something wrong properly. */
type Draft = {
  method: string
  path: string
  components: string[]
  params: [string, string][]
  label: string
  agent: string
  signer: Key
  digest: string | undefined
  body: string
}

function draft(choose: Choices): Draft {
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
    digest: isWrite ? `sha-256=:${createHash('sha256').update(body).digest('base64')}:` : undefined,
    body,
  }
}

/** Signs a draft as it is, right or wrong. */
function signed(message: Draft): Wire {
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

const stranger = newKey()

/** Messages that are signed properly and still not what the vault accepts. */
const WRONG_DRAFTS: readonly ((message: Draft, choose: Choices) => void)[] = [
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
  (m) => (m.signer = stranger),
  (m) => {
    m.signer = stranger
    m.agent = m.agent.replace(key.publicKeyHex, stranger.publicKeyHex)
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

/** Changes to a message after it was signed. */
const DAMAGE: readonly ((wire: Wire, choose: Choices) => void)[] = [
  (w, choose) => w.headers.splice(1 + choose.below(3), 1),
  (w, choose) => {
    const header = w.headers[1 + choose.below(3)]
    if (header !== undefined) w.headers.push([header[0], header[1]])
  },
  (w) => w.headers.push(['Host', 'evil.example']),
  (w, choose) =>
    (w.headers[0] = ['Host', choose.of(['evil.example', `${host}0`, `user@${host}`, `${host}/`, 'a b', ''])]),
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
      `http://${host}/v1/secrets?x`,
    ])),
  (w, choose) => {
    if (w.body === '') w.method = 'POST'
    else w.body = choose.of([w.body.replace('K', 'L'), `${w.body} `, w.body.slice(1), '', '{}', `${w.body}${w.body}`])
  },
]

/** Replaces, removes, doubles or inserts a character, never at the ends, where white space does not count. */
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

/** As above; the case of the public key's digits does not matter, so that is no damage. */
function damageAgent(wire: Wire, choose: Choices): void {
  const [, before] = wire.headers[3] ?? ['', '']
  damageText(wire, 3, choose)
  const [name, after] = wire.headers[3] ?? ['Signature-Agent', '']
  if (after.toLowerCase() === before.toLowerCase()) wire.headers[3] = [name, `${after}x`]
}

/** What of a message counts: not the order of its headers. */
function meaning({ method, path, headers, body }: Wire): string {
  return JSON.stringify([method, path, headers.map((header) => header.join(': ')).toSorted(), body])
}

function sendWire(wire: Wire): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = wire.headers.flat()
    if (wire.body !== '') headers.push('Content-Length', String(Buffer.byteLength(wire.body)))
    const { hostname, port } = new URL(vault.url)
    const outgoing = httpRequest(
      { agent, host: hostname, port, method: wire.method, path: wire.path, headers, setHost: false },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(wire.body)
  })
}

/** One case from one number, so that a failure names what repeats it. */
async function runCase(seed: number): Promise<{ kind: string; status: number; wire: Wire }> {
  const choose = new Choices(seed)
  const message = draft(choose)
  const roll = choose.below(100)
  if (roll < 2) {
    const wire = signed(message)
    return { kind: 'valid', status: await sendWire(wire), wire }
  }
  if (roll < 5) {
    const wire = signed(message)
    await sendWire(wire)
    return { kind: 'replay', status: await sendWire(wire), wire }
  }
  if (roll < 40) {
    choose.of(WRONG_DRAFTS)(message, choose)
    const wire = signed(message)
    return { kind: 'wrong', status: await sendWire(wire), wire }
  }
  const wire = signed(message)
  const intact = meaning(wire)
  for (let times = 1 + choose.below(2); times > 0; times--) choose.of(DAMAGE)(wire, choose)
  // The second damage may have undone the first.
  if (meaning(wire) === intact) wire.headers.splice(1, 1)
  return { kind: 'damaged', status: await sendWire(wire), wire }
}

test(`${String(CASES)} mutations of a signed request never succeed and never break the vault (seed ${String(SEED)})`, async () => {
  const failures: string[] = []
  const counts = new Map<string, number>()
  let next = 0
  const worker = async () => {
    for (let i = next++; i < CASES; i = next++) {
      const { kind, status, wire } = await runCase(SEED + i)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const good = kind === 'valid' ? status === 200 : status >= 400 && status < 500
      if (!good) failures.push(`FUZZ_SEED=${String(SEED + i)} ${kind} gave ${String(status)}: ${JSON.stringify(wire)}`)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  expect(failures).toEqual([])
  // Every kind took part; without the valid ones a vault that refuses everything would pass.
  if (CASES >= 1_000) expect([...counts.keys()].toSorted()).toEqual(['damaged', 'replay', 'valid', 'wrong'])
}, 600_000)
