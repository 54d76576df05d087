import { createHash } from 'node:crypto'
import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { apiError, type ErrorCode } from '../errors.ts'
import type { IssuerKeySet, IssuerKeys } from './issuer-keys.ts'
import { ALGORITHMS, type Algorithm } from './trust-rules.ts'

/** An ID token before its signature is verified. */
export type UnverifiedToken = { readonly token: string; readonly issuer: string; readonly algorithm: Algorithm }

/** A verified ID token. */
export type IdToken = {
  readonly subject: string
  readonly audiences: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
  /** Identifies the token, whatever its encoding. */
  readonly digest: string
  /** In seconds since the Unix epoch. */
  readonly issued: number
  readonly expires: number
}

/** The longest ID token, in characters. Those of platforms have about 2,000. */
export const MAX_TOKEN_LENGTH = 16_384

/** How far the clocks of an issuer and of the vault may differ. */
export const SKEW_SECONDS = 30

/** An accepted token is remembered until it has expired, so that it cannot be valid for years. */
const MAX_LIFETIME_SECONDS = 86_400

/** The types of an ID token; other tokens of the same issuer have their own (RFC 8725 section 3.11). */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'jose', 'application/jwt']

/** Reads the parts of an ID token that decide how it is verified. @throws ApiError invalid_id_token */
export function readIdToken(token: string): UnverifiedToken {
  const { header, issuer } = decode(token)
  const algorithm = ALGORITHMS.find((known) => known === header.alg)
  if (algorithm === undefined) throw invalidToken('It is signed with an algorithm that is not accepted.')
  // The library has not checked the members of the header.
  const type: unknown = header.typ
  if (!TYPES.includes(typeof type === 'string' ? type.toLowerCase() : type))
    throw invalidToken('It is a token of another type.')
  if (typeof issuer !== 'string') throw invalidToken('It has no issuer.')
  return { token, issuer, algorithm }
}

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), issuer: decodeJwt(token).iss }
  } catch (error) {
    throw invalidToken('It is not a JWT.', error)
  }
}

/**
 * Verifies the signature and the times of an ID token with the keys of its issuer. Keys in or named by the token are
 * ignored.
 *
 * @throws ApiError invalid_id_token; unavailable if the keys cannot be fetched
 */
export async function verifyIdToken(
  unverified: UnverifiedToken,
  { algorithms, issuerKeys, now }: { algorithms: readonly string[]; issuerKeys: IssuerKeys; now: Date },
): Promise<IdToken> {
  const { token, issuer, algorithm } = unverified
  if (!algorithms.includes(algorithm)) throw invalidToken('It is signed with an algorithm that no trust rule allows.')
  const verifyWith = async ({ find }: IssuerKeySet): Promise<JWTPayload> => {
    const options = { issuer, algorithms: [algorithm], clockTolerance: SKEW_SECONDS, currentDate: now }
    return (await jwtVerify(token, find, { ...options, requiredClaims: ['sub', 'iat', 'exp'] })).payload
  }
  const keys = await issuerKeys.get(issuer)
  const payload = await verifyWith(keys).catch(async (error: unknown) => {
    const renewed = error instanceof errors.JWKSNoMatchingKey ? await issuerKeys.renew(issuer, keys) : undefined
    if (renewed === undefined) throw translate(error)
    return verifyWith(renewed).catch((again: unknown) => {
      throw translate(again)
    })
  })
  return toIdToken(unverified, payload, now.getTime() / 1000)
}

function toIdToken({ token, issuer }: UnverifiedToken, payload: JWTPayload, now: number): IdToken {
  const { sub: subject, aud = [], jti, iat: issued = Infinity, exp: expires = Infinity } = payload
  if (typeof subject !== 'string' || subject === '') throw invalidToken('It has no subject.')
  if (issued > now + SKEW_SECONDS) throw invalidToken('It was issued in the future.')
  if (expires > now + MAX_LIFETIME_SECONDS) throw invalidToken('It is valid for more than a day.')
  // Without the signature, which may have several valid encodings.
  const identity =
    typeof jti === 'string' && jti !== '' ? ['jti', jti] : ['token', token.slice(0, token.lastIndexOf('.'))]
  const audiences = [aud].flat().filter((each: unknown) => typeof each === 'string')
  return {
    ...{ subject, audiences, claims: payload, issued, expires },
    digest: createHash('sha256')
      .update(JSON.stringify([issuer, ...identity]))
      .digest('hex'),
  }
}

/** The error for an ID token. The reason is a sentence, and does not repeat anything of the token. */
export function invalidToken(reason: string, cause?: unknown): ApiError<ErrorCode> {
  return apiError('invalid_id_token', reason, { cause })
}

/** Only errors of the library are about the token. */
function translate(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalidToken('It has expired. Request a new one.', error)
  if (error instanceof errors.JWTClaimValidationFailed)
    return invalidToken(PROBLEMS[error.claim] ?? 'One of its claims is missing or malformed.', error)
  if (error instanceof errors.JWKSNoMatchingKey)
    return invalidToken('It is signed with a key that its issuer does not publish.', error)
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return invalidToken('It does not name the key that it is signed with.', error)
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return invalidToken('Its signature does not verify.', error)
  if (error instanceof errors.JOSEError) return invalidToken('It is not an acceptable JWT.', error)
  // The key that the token names does not fit its algorithm, or is too short.
  if (error instanceof TypeError) return invalidToken('Its key does not fit its algorithm.', error)
  return error
}

const PROBLEMS: Readonly<Record<string, string>> = {
  nbf: 'It is not yet valid.',
  sub: 'It has no subject.',
  iat: 'It does not state when it was issued.',
  exp: 'It does not state when it expires.',
}
