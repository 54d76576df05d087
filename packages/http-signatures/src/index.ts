export { parseSignedRequest } from './parse-signed-request.ts'
export { createVerifyKey, parsePublicKey, publicKeyToHex, publicKeyToJwk, type VerifyKey } from './public-key.ts'
export * from './sign.ts'
export type {
  AcceptedRequest,
  ParsedRequest,
  ReceivedMessage,
  SignatureClaims,
  TimelyRequest,
  VerifiedRequest,
} from './signed-request.ts'
export { checkContent, checkWindow, verifySignature, verifySignatureOffThread } from './verify-request.ts'
