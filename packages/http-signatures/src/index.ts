export { checkContent } from './check-content.ts'
export { checkWindow } from './check-window.ts'
export { createVerifyKey, type VerifyKey } from './create-verify-key.ts'
export { parsePublicKey } from './parse-public-key.ts'
export { parseSignedRequest } from './parse-signed-request.ts'
export { publicKeyToHex, publicKeyToJwk } from './public-key-format.ts'
export * from './sign.ts'
export type {
  AcceptedRequest,
  ParsedRequest,
  ReceivedMessage,
  SignatureClaims,
  TimelyRequest,
  VerifiedRequest,
} from './signed-request.ts'
export { verifySignature, verifySignatureOffThread } from './verify-signature.ts'
