export { createVerifyKey, parsePublicKey, publicKeyToHex, type VerifyKey } from './public-key.ts'
export * from './sign.ts'
export {
  type AcceptedRequest,
  type ParsedRequest,
  parseSignedRequest,
  type ReceivedMessage,
  type SignatureClaims,
  type TimelyRequest,
  type VerifiedRequest,
} from './signed-request.ts'
export { checkContent, checkWindow, verifySignature, verifySignatureOffThread } from './verify-request.ts'
