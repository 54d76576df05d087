// What one core does per second. Build first: `pnpm build && pnpm --filter http-signatures bench`.
import { randomBytes } from 'node:crypto'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  generateKeyPair,
  importPrivateKey,
  parsePublicKey,
  parseSignedRequest,
  signRequest,
  verifySignature,
} from '@vault-and-tracker/http-signatures'
import * as portable from '@vault-and-tracker/http-signatures/portable'
import nacl from 'tweetnacl'

const SECONDS = 2
const { publicKeyHex, privateJwk } = generateKeyPair()
const key = importPrivateKey(privateJwk)
const verifyKey = createVerifyKey(parsePublicKey(publicKeyHex))
const created = 1_700_000_000
const url = 'http://vault.test:4200/v1/secrets?env=production'
const toSign = { method: 'GET', url, project: 'demo', key, created, nonce: randomBytes(16).toString('hex') }
const toSignPortably = { ...toSign, key: portable.importPrivateKey(privateJwk) }

const headers = Object.entries(signRequest(toSign)).flat()
const common = ['Host', 'vault.test:4200', 'Connection', 'keep-alive', 'Accept', '*/*', 'User-Agent', 'node']
/** @type {Parameters<typeof parseSignedRequest>[0]} */
const message = {
  method: 'GET',
  scheme: 'http',
  target: '/v1/secrets?env=production',
  rawHeaders: [...common, ...headers],
}
const empty = new Uint8Array()

const base = randomBytes(400)
const signature = key.sign(base)
const publicKey = Buffer.from(publicKeyHex, 'hex')

const rows = {
  'parse only': () => parseSignedRequest(message),
  'parse and verify, all four steps': () =>
    checkContent(checkWindow(verifySignature(parseSignedRequest(message), [verifyKey]), created * 1000), empty),
  'node:crypto verify alone': () => verifyKey.verify(base, signature),
  sign: () => signRequest(toSign),
  'sign, portable (tweetnacl)': () => portable.signRequest(toSignPortably),
  'tweetnacl verify alone, for comparison': () => nacl.sign.detached.verify(base, signature, publicKey),
  'admit a public key': () => parsePublicKey(publicKeyHex),
}

console.log(`Node ${process.version}, one core, ${SECONDS} s each\n`)
console.log('| operation | per second | µs each |\n|---|---:|---:|')
for (const [name, run] of Object.entries(rows)) {
  for (let i = 0; i < 50; i += 1) await run()
  let count = 0
  const start = performance.now()
  const end = start + SECONDS * 1000
  while (performance.now() < end) {
    for (let i = 0; i < 8; i += 1) await run()
    count += 8
  }
  const perSecond = (count * 1000) / (performance.now() - start)
  console.log(`| ${name} | ${Math.round(perSecond).toLocaleString('en')} | ${(1e6 / perSecond).toFixed(1)} |`)
}
