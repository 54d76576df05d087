import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TRIALS } from '@vault-and-tracker/dev-env'
import { damages } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import { ERRORS, type ErrorCode } from '../src/errors.ts'
import { createProject, type Key } from './support/client.ts'
import { drafts, signed, wrongs } from './support/signed-drafts.ts'
import { startVault, type TestVault } from './support/vault.ts'

// Raw bytes that no HTTP client would send.
const RUNS = { numRuns: 400 * TRIALS, seed: Number(process.env['FUZZ_SEED'] ?? 20_261_121) }
const IN_FLIGHT = 16
/** Without a response in this time, the request was incomplete, and the connection is closed. */
const HALF_MS = 250

let vault: TestVault
let key: Key

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
})
afterAll(() => vault.stop())

const TOKENS = [
  ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '"', '\xff', '\xe2\x80\xa8', '%0d%0a', '\r\n ', '\r\n\r\n'],
  ...['?', '&', '%', '%00', '/', '//', '%2e', ';x', '?x[y]=1', '=', '(', ')', '\\', '*', '-', '.', 'A'.repeat(20_000)],
]
const LINES = [
  ...['Host: 127.0.0.1', 'Host: evil.example', 'Host:', 'Host: a b', 'Host: user@127.0.0.1', 'signature : x'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Expect: 100-continue\r\nHost: 127.0.0.1'],
  ...['Content-Length: 0', 'Content-Length: 999', 'Content-Length: -1', 'Upgrade: websocket\r\nConnection: Upgrade'],
  ...['sig1', 'sig1=', 'sig1=::', 'sig1=?1', 'sig1=:====:', ',', ':', 'sig1=:AAAA:'].map(
    (text) => `Signature: ${text}`,
  ),
  ...[0, 1, 63, 64, 65, 600].map((size) => `Signature: sig1=:${Buffer.alloc(size, 7).toString('base64')}:`),
  ...['Signature-Input: sig1=()', 'Signature-Agent: sig1=shop.agents.vault.local;pubkey="00"'],
]
const FIRST_LINES = [
  ...['GET', 'PUT', 'DELETE', 'POST', 'HEAD', 'PATCH', 'OPTIONS'].map((method) => `${method} /v1/secrets`),
  ...['//v1/secrets', '/v1/secrets/../secrets', '/V1/secrets', '/v1/secrets%3Fenv=fuzz'].map((path) => `GET ${path}`),
  ...['GET /v1/secrets?env=a', 'PUT http://127.0.0.1/v1/secrets', 'GET /v1/secrets?env=fuzz&env=b'],
].map((line) => `${line} HTTP/1.1`)

type Damage = (text: string) => string

/** Changes to the lines of the head: one is removed, repeated, added or replaced, or the body is another one. */
const lineDamages: fc.Arbitrary<Damage> = fc
  .record({
    at: fc.nat(),
    change: fc.constantFrom('remove', 'repeat', 'add', 'replace', 'first', 'body'),
    line: fc.constantFrom(...LINES),
    first: fc.constantFrom(...FIRST_LINES),
    body: fc.constantFrom('', '{}', '{"key":"L","value":"v","env":"fuzz"}', ' '),
  })
  .map(({ at, change, line, first, body }) => (text) => {
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return text
    if (change === 'body') return text.slice(0, end + 4) + body + text.slice(end + 4)
    const lines = text.slice(0, end).split('\r\n')
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const replaced = lines.findIndex((each) => each.toLowerCase().startsWith(name))
    const i = 1 + (at % lines.length)
    if (change === 'remove') lines.splice(i, 1)
    if (change === 'repeat') lines.push(lines[i] ?? '')
    if (change === 'add') lines.splice(i, 0, line)
    if (change === 'replace') lines[replaced] = line
    if (change === 'first') lines[0] = first
    return lines.join('\r\n') + text.slice(end)
  })

const anyDamage: fc.Arbitrary<Damage> = fc
  .array(fc.oneof(damages(TOKENS, 1), lineDamages), { minLength: 1, maxLength: 2 })
  .map((list) => (text: string) => list.reduce((damaged, damage) => damage(damaged), text))

const unchanged: Damage = (text) => text

/** The kinds of requests: valid, sent twice, signed correctly but wrong, and damaged after the signature. */
const cases = fc.record({
  draft: drafts,
  kind: fc.oneof(
    { arbitrary: fc.constant({ name: 'valid', wrong: () => undefined, damage: unchanged }), weight: 2 },
    { arbitrary: fc.constant({ name: 'replay', wrong: () => undefined, damage: unchanged }), weight: 3 },
    { arbitrary: wrongs.map((wrong) => ({ name: 'wrong', wrong, damage: unchanged })), weight: 35 },
    { arbitrary: anyDamage.map((damage) => ({ name: 'damaged', wrong: () => undefined, damage })), weight: 60 },
  ),
})
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

/**
 * The meaning of a request, to recognise mutations that change nothing: it ignores the case of header names and of the key's
 * digits, white space around values and in the request line, the minor version, unknown headers and bytes after the end.
 */
function meaning(request: string): string {
  const text = request.replace(/^[\r\n]+/, '')
  const end = text.indexOf('\r\n\r\n')
  const [start = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    return [name, name === 'signature-agent' ? value.toLowerCase() : value]
  })
  const counted = ['host', 'signature', 'signature-input', 'signature-agent', 'content-digest', 'transfer-encoding']
  const length = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0)
  const body = text.slice(end + 4, end + 4 + length)
  const isJson = headers.some(
    ([name, value]) => name === 'content-type' && /^application\/json *(;|$)/i.test(value ?? ''),
  )
  return JSON.stringify([
    start.replace(/ +/g, ' ').replace(/HTTP\/1\.[0-9]$/, 'HTTP/1.x'),
    headers.filter(([name]) => counted.includes(name ?? '')).sort(),
    body,
    isJson,
  ])
}

/** All bytes of the service until it closes the connection. */
function exchange(request: string, mayBeIncomplete: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(vault.url).port), '127.0.0.1', () => socket.write(request, 'latin1'))
    let text = ''
    const half = mayBeIncomplete ? setTimeout(() => socket.end(), HALF_MS) : undefined
    const stuck = setTimeout(
      () => reject(new Error(`the connection stays open: ${JSON.stringify([text, request.slice(0, 900)])}`)),
      60_000,
    )
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      // Further bytes would be a second request. 100 Continue is not a response yet.
      if (!/^HTTP\/1\.1 100 [^\n]*\r\n\r\n$/.test(text)) socket.end()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(half)
      clearTimeout(stuck)
      resolve(text)
    })
  })
}

/** The problem of a response, undefined if there is none. */
function complaint(answer: string, request: string, mayPass: boolean): string | undefined {
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.slice(0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  if (status === 200) return mayPass ? undefined : 'succeeded'
  if (status === 100) return complaint(answer.slice(end + 4), request, mayPass)
  if (!(status >= 400 && status < 500)) return `status ${String(status)}`
  if (!/^content-type: application\/json/im.test(head)) return 'is not JSON'
  if (!/^cache-control: no-store/im.test(head)) return 'may be cached'
  if (/^[\r\n]*HEAD /.test(request)) return undefined
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
  const text = answer.slice(end + 4, end + 4 + length)
  const body = JSON.parse(text) as Record<string, unknown>
  const known = ERRORS[String(body['error']) as ErrorCode] as { status: number; bare: boolean } | undefined
  if (known?.status !== status) return `${String(body['error'])} with status ${String(status)}`
  const members = known.bare ? ['error'] : ['error', 'message']
  return Object.keys(body).join() === members.join() ? undefined : `has members ${Object.keys(body).join()}`
}

/** An incomplete request may only end the connection. */
const isSilence = (answer: string): boolean => answer === '' || /^HTTP\/1\.1 100 [^\n]*\r\n\r\n$/.test(answer)

/** The problem with the response to a case, if any, and whether there was one. */
async function runCase({ draft, kind }: Case): Promise<{ isAnswered: boolean; problem: string | undefined }> {
  const message = draft(key, new URL(vault.url).host)
  kind.wrong(message)
  const original = signed(message)
  const request = kind.damage(original)
  if (kind.name === 'replay') await exchange(request, false)
  const answer = await exchange(request, kind.name === 'damaged')
  const mayPass = kind.name === 'valid' || (kind.name === 'damaged' && meaning(request) === meaning(original))
  const isRefused = kind.name === 'valid' && !/^HTTP\/1\.1 200 /.test(answer)
  const problem = isRefused ? 'is refused' : isSilence(answer) ? undefined : complaint(answer, request, mayPass)
  return {
    isAnswered: answer !== '',
    problem: problem && `${kind.name} ${problem}\n${JSON.stringify(request.slice(0, 900))}\n${answer}`,
  }
}

test(`${String(RUNS.numRuns)} requests that are wrong or damaged are refused with the documented error (seed ${String(RUNS.seed)})`, async () => {
  const problems: string[] = []
  const waiting = fc.sample(cases, RUNS)
  const kinds = new Set(waiting.map(({ kind }) => kind.name))
  let answered = 0
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { isAnswered, problem } = await runCase(next)
      if (isAnswered) answered += 1
      if (problem !== undefined) problems.push(problem)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  expect(problems.slice(0, 5)).toEqual([])
  expect(answered).toBeGreaterThan(RUNS.numRuns / 2)
  // Without valid requests, a vault that refuses everything would pass.
  expect([...kinds].toSorted()).toEqual(['damaged', 'replay', 'valid', 'wrong'])
  expect((await fetch(`${vault.url}/ready`)).status).toBe(200)
  expect(vault.logged()).not.toMatch(/"level":[56]0/)
}, 600_000)
