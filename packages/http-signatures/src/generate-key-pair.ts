import { generateKeyPairSync } from 'node:crypto'
import { type GeneratedKeyPair, writeKeyPair } from './private-key.ts'

/** Generates an Ed25519 key pair with node:crypto. Show the private key once, and keep no copy. */
export function generateKeyPair(): GeneratedKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  // Both encodings end with the 32 bytes of the key (RFC 8410 sections 4 and 7).
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  return writeKeyPair({ seed, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) })
}
