import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  removeTemporaryFolder,
  type TestDatabase,
  TRIALS,
  temporaryFolder,
  testRedis,
} from '@vault-and-tracker/dev-env'
import { importPrivateKey, type SigningKey, signRequest } from '@vault-and-tracker/http-signatures'
import { ERRORS, type ErrorCode } from '../src/errors.ts'
import { createProject } from './support/client.ts'
import { createVaultDatabase } from './support/vault.ts'
import { startVaultProcess, type VaultProcess } from './support/vault-process.ts'

// Raw bytes that no HTTP client would send, to the service as in production.
const CASES = 1_500 * TRIALS
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121)
const IN_FLIGHT = 16
/** Without a response in this time, the request was incomplete, and the connection is closed. */
const HALF_MS = 250

let folder: string
let database: TestDatabase
let service: VaultProcess
let key: SigningKey

beforeAll(async () => {
  folder = temporaryFolder('fuzz-wire')
  database = await createVaultDatabase()
  const { url: redisUrl } = await testRedis()
  service = await startVaultProcess({ folder, databaseUrl: database.appUrl, redisUrl })
  const { privateKey } = await createProject(service.url, 'shop')
  key = importPrivateKey(JSON.stringify(privateKey.export({ format: 'jwk' })))
})
afterAll(async () => {
  await service.process.stop()
  await database.drop()
  removeTemporaryFolder(folder)
})

/** xorshift: the same numbers for the same seed. */
function choices(seed: number): (below: number) => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635) | 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.abs(state) % below
  }
}

/** A valid request; that of a PUT covers its body. */
function signedBytes(choose: (below: number) => number): Buffer {
  const write = choose(3) === 0
  const path = write || choose(2) === 0 ? '/v1/secrets' : '/v1/secrets?env=staging'
  const method = write ? 'PUT' : 'GET'
  const body = write ? JSON.stringify({ key: 'K', value: randomBytes(6).toString('hex'), env: 'production' }) : ''
  const headers = signRequest({
    ...{ method, url: service.url + path, project: 'shop', key },
    created: Math.floor(Date.now() / 1000),
    nonce: randomBytes(16).toString('hex'),
    ...(write && { body }),
  })
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${String(service.port)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(write ? ['Content-Type: application/json', `Content-Length: ${String(body.length)}`] : []),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}

const INSERTED = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '"',
  '\xff',
  '\xe2\x80\xa8',
  '%0d%0a',
  '\r\n ',
  '\r\n\r\n',
]
const ADDED = [
  'Host: 127.0.0.1',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Content-Length: 0',
  'Content-Length: 999',
  'Content-Length: -1',
  'Signature: sig1=:AAAA:',
  'Signature-Input: sig1=()',
  'Signature-Agent: sig1=shop.agents.vault.local;pubkey="00"',
  'signature : x',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Expect: 100-continue\r\nHost: 127.0.0.1',
]

type Mutation = (bytes: Buffer, choose: (below: number) => number) => Buffer

const MUTATIONS: readonly Mutation[] = [
  // A bit of any byte.
  (bytes, choose) => {
    const changed = Buffer.from(bytes)
    const at = choose(bytes.length)
    changed.writeUInt8(bytes.readUInt8(at) ^ (1 << choose(8)), at)
    return changed
  },
  // A few bytes less.
  (bytes, choose) => {
    const at = choose(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + choose(8))])
  },
  // A delimiter anywhere.
  (bytes, choose) => {
    const at = choose(bytes.length)
    const text = Buffer.from(INSERTED[choose(INSERTED.length)] ?? ' ', 'latin1')
    return Buffer.concat([bytes.subarray(0, at), text, bytes.subarray(at)])
  },
  // Another header, first or last.
  (bytes, choose) => {
    const at = choose(2) === 0 ? bytes.indexOf('\r\n') + 2 : bytes.indexOf('\r\n\r\n') + 2
    const line = Buffer.from(`${ADDED[choose(ADDED.length)] ?? ''}\r\n`, 'latin1')
    return Buffer.concat([bytes.subarray(0, at), line, bytes.subarray(at)])
  },
  // Cut anywhere.
  (bytes, choose) => bytes.subarray(0, 1 + choose(bytes.length - 1)),
  // A repeated part.
  (bytes, choose) => {
    const from = choose(bytes.length)
    const to = Math.min(bytes.length, from + 1 + choose(60))
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  },
  // Far too long.
  (bytes, choose) => {
    const at = choose(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(20_000, 0x41), bytes.subarray(at)])
  },
]

/**
 * The meaning of a request, to recognise mutations that change nothing: it ignores the case of header names and of the key's
 * digits, white space around values and in the request line, the minor version, unknown headers and bytes after the end.
 */
function meaning(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/^[\r\n]+/, '')
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
function exchange(bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    const half = setTimeout(() => socket.end(), HALF_MS)
    const stuck = setTimeout(
      () =>
        reject(
          new Error(`the connection stays open: ${JSON.stringify([text, bytes.toString('latin1').slice(0, 900)])}`),
        ),
      10_000,
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
function complaint(answer: string, unchanged: boolean): string | undefined {
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.slice(0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  if (status === 200) return unchanged ? undefined : 'succeeded'
  if (status === 100) return complaint(answer.slice(end + 4), unchanged)
  if (!(status >= 400 && status < 500)) return `status ${String(status)}`
  if (!/^content-type: application\/json/im.test(head)) return 'is not JSON'
  if (!/^cache-control: no-store/im.test(head)) return 'may be cached'
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
  const text = answer.slice(end + 4, end + 4 + length)
  if (text === '' && /^HEAD /.test(answer)) return undefined
  const body = JSON.parse(text) as Record<string, unknown>
  const known = ERRORS[String(body['error']) as ErrorCode] as { status: number; bare: boolean } | undefined
  if (known?.status !== status) return `${String(body['error'])} with status ${String(status)}`
  const members = known.bare ? ['error'] : ['error', 'message']
  return Object.keys(body).join() === members.join() ? undefined : `has members ${Object.keys(body).join()}`
}

let answered = 0

async function runCase(seed: number): Promise<string | undefined> {
  const choose = choices(seed)
  const original = signedBytes(choose)
  let bytes = original
  for (let times = 1 + choose(2); times > 0; times--)
    bytes = MUTATIONS[choose(MUTATIONS.length)]?.(bytes, choose) ?? bytes
  const answer = await exchange(bytes)
  if (answer !== '') answered += 1
  // An incomplete request may only end the connection.
  const wrong =
    answer === '' || /^HTTP\/1\.1 100 [^\n]*\r\n\r\n$/.test(answer)
      ? undefined
      : complaint(answer, meaning(bytes) === meaning(original))
  return (
    wrong && `FUZZ_SEED=${String(seed)}: ${wrong}\n${JSON.stringify(bytes.toString('latin1').slice(0, 900))}\n${answer}`
  )
}

test(`${String(CASES)} requests damaged on the wire are refused with the documented error (seed ${String(SEED)})`, async () => {
  const good = signedBytes(choices(SEED))
  expect(await exchange(good)).toMatch(/^HTTP\/1\.1 200 /)
  const failures: string[] = []
  let next = 0
  const worker = async () => {
    for (let i = next++; i < CASES; i = next++) {
      const failure = await runCase(SEED + i)
      if (failure !== undefined) failures.push(failure)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  expect(failures.slice(0, 5)).toEqual([])
  expect(answered).toBeGreaterThan(CASES / 2)
  expect(service.process.isRunning()).toBe(true)
  expect(service.log()).not.toMatch(/"level":[56]0/)
}, 600_000)
