// The part for clients, which starts without the library that checks public keys.
export { SignatureError, type SignatureErrorCode } from './errors.ts'
export { generateKeyPair } from './generate-key-pair.ts'
export { importPrivateKey } from './import-private-key.ts'
export type { DigestAlgorithm, RequestToSign, SignatureHeaders } from './prepare-request.ts'
export type { GeneratedKeyPair, SigningKey } from './private-key.ts'
export { signRequest } from './sign-request.ts'
