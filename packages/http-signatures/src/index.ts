export { checkContent } from './check-content.ts'
export { checkWindow } from './check-window.ts'
export { createVerifyKey, type VerifyKey } from './create-verify-key.ts'
export { SignatureError, type SignatureErrorCode } from './errors.ts'
export { generateKeyPair } from './generate-key-pair.ts'
export { importPrivateKey } from './import-private-key.ts'
export { parsePublicKey } from './parse-public-key.ts'
export { parseSignedRequest } from './parse-signed-request.ts'
export type { DigestAlgorithm, RequestToSign, SignatureHeaders } from './prepare-request.ts'
export type { GeneratedKeyPair, SigningKey } from './private-key.ts'
export { publicKeyToHex, publicKeyToJwk } from './public-key-format.ts'
export { signRequest } from './sign-request.ts'
export type {
  AcceptedRequest,
  ParsedRequest,
  ReceivedMessage,
  SignatureClaims,
  TimelyRequest,
  VerifiedRequest,
} from './signed-request.ts'
export { verifySignature, verifySignatureOffThread } from './verify-signature.ts'
