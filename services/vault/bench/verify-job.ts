// Verification alone, one call after the other: everything the library does for a request with a good signature.
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
import { onJob, quantile } from './job.ts'

const EMPTY = Buffer.alloc(0)

onJob('verify', ({ seconds, warmUpSeconds }) => {
  const { publicKeyHex, privateJwk } = generateKeyPair()
  const keys = [createVerifyKey(parsePublicKey(publicKeyHex))]
  const created = Math.floor(Date.now() / 1000)
  const nonce = randomBytes(16).toString('hex')
  const url = 'http://127.0.0.1:4200/v1/secrets'
  const headers = signRequest({
    method: 'GET',
    url,
    project: 'shop',
    key: importPrivateKey(privateJwk),
    created,
    nonce,
  })
  const rawHeaders = ['Host', '127.0.0.1:4200', ...Object.entries(headers).flat()]
  const message = { method: 'GET', scheme: 'http' as const, target: '/v1/secrets', rawHeaders }
  const verify = () =>
    checkContent(checkWindow(verifySignature(parseSignedRequest(message), keys), created * 1000), EMPTY, {})
  const warmUntil = performance.now() + warmUpSeconds * 1000
  while (performance.now() < warmUntil) verify()
  const latencies: number[] = []
  const until = performance.now() + seconds * 1000
  for (let before = performance.now(); before < until; ) {
    verify()
    const after = performance.now()
    latencies.push(after - before)
    before = after
  }
  const sorted = Float64Array.from(latencies).sort()
  return { perSecond: sorted.length / seconds, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), errors: 0 }
})
