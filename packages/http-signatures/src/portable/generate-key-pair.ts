import nacl from 'tweetnacl'
import { type GeneratedKeyPair, writeKeyPair } from '../private-key.ts'

/** Generates an Ed25519 key pair with random bytes of Web Crypto. The private key should not leave the machine. */
export function generateKeyPair(): GeneratedKeyPair {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  return writeKeyPair({ seed, publicKey: nacl.sign.keyPair.fromSeed(seed).publicKey })
}
