import { SignatureError } from './errors.ts'
import {
  AGENT_SUFFIX,
  COVERED,
  COVERED_WITH_CONTENT,
  HEX_KEY,
  LABEL,
  LIFETIME_SECONDS,
  NONCE,
  PROJECT,
} from './profile.ts'

// These are not general structured-field parsers (RFC 9651). Each accepts only one spelling of the only member that
// this profile allows, so that the parsed value and the signed value cannot differ.

const INTEGER = /^(?:0|[1-9][0-9]{0,14})$/
const SIGNATURE = /^sig1=:([A-Za-z0-9+/]{86}==):$/
const AGENT = /^sig1=([^;]+);pubkey="([^"]*)"$/
const PARAMETER = /^([a-z]+)=(.+)$/

function invalid(message: string): SignatureError {
  return new SignatureError('invalid_signature', message)
}

/** The parsed Signature-Input member. `signatureParams` is its text without the label. */
export type SignatureInput = {
  readonly signatureParams: string
  readonly coversContent: boolean
  readonly created: number
  readonly expires: number
  readonly nonce: string
  readonly keyid: string
}

/** Parses `sig1=("@method" …);created=…;expires=…;nonce="…";keyid="…"` (RFC 9421 section 4.1). */
export function parseSignatureInput(value: string): SignatureInput {
  if (!value.startsWith(`${LABEL}=`)) throw invalid('the Signature-Input label is not sig1')
  const signatureParams = value.slice(LABEL.length + 1)
  // No valid value contains a semicolon, so splitting at semicolons is safe.
  const [covered, ...parameters] = signatureParams.split(';')
  if (covered !== COVERED && covered !== COVERED_WITH_CONTENT)
    throw invalid('the covered components are not the profile')

  const found = readParameters(parameters)
  const created = integer(found, 'created')
  const expires = integer(found, 'expires')
  const nonce = text(found, 'nonce')
  const keyid = text(found, 'keyid')
  if (expires !== created + LIFETIME_SECONDS) throw invalid('expires is not created + 300')
  if (!NONCE.test(nonce)) throw invalid('the nonce is not 32 hex digits')
  if (found.has('alg') && text(found, 'alg') !== 'ed25519') throw invalid('alg is not ed25519')
  return { signatureParams, coversContent: covered === COVERED_WITH_CONTENT, created, expires, nonce, keyid }
}

const PARAMETERS = new Set(['created', 'expires', 'nonce', 'keyid', 'alg'])

function readParameters(parameters: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const parameter of parameters) {
    const [, name, value] = PARAMETER.exec(parameter) ?? []
    if (name === undefined || value === undefined) throw invalid('a signature parameter is malformed')
    if (!PARAMETERS.has(name)) throw invalid('a signature parameter is unknown')
    if (found.has(name)) throw invalid('a signature parameter occurs twice')
    found.set(name, value)
  }
  return found
}

function integer(parameters: ReadonlyMap<string, string>, name: string): number {
  const value = parameters.get(name)
  if (value === undefined || !INTEGER.test(value)) throw invalid(`${name} is not an integer of at most 15 digits`)
  return Number(value)
}

function text(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name)
  // Escapes are not decoded, because no valid value contains one.
  if (value === undefined || value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) {
    throw invalid(`${name} is not a string`)
  }
  return value.slice(1, -1)
}

/** Parses `sig1=:<88 characters>:` (RFC 9421 section 4.2) into its base64 text, 64 bytes long. */
export function parseSignature(value: string): string {
  const base64 = SIGNATURE.exec(value)?.[1]
  if (base64 === undefined) throw invalid('the signature is not one sig1 member of 64 bytes')
  // 64 bytes leave four spare bits in the last character, which must be zero in the canonical spelling.
  if (!'AQgw'.includes(base64.charAt(85))) throw invalid('the signature is not canonical base64')
  return base64
}

/** Parses `sig1=<project>.agents.vault.local;pubkey="<hex>"`, and compares it with `keyid`. */
export function parseSignatureAgent(
  value: string,
  keyid: string,
): { readonly project: string; readonly publicKeyHex: string } {
  const [, agent, publicKeyHex] = AGENT.exec(value) ?? []
  if (agent === undefined || publicKeyHex === undefined) throw invalid('Signature-Agent is malformed')
  if (agent !== keyid) throw invalid('keyid and Signature-Agent differ')
  if (!agent.endsWith(AGENT_SUFFIX)) throw invalid('the agent is not under agents.vault.local')
  const project = agent.slice(0, -AGENT_SUFFIX.length)
  if (!PROJECT.test(project)) throw invalid('the agent names no project')
  if (!HEX_KEY.test(publicKeyHex)) throw invalid('pubkey is not 64 hex digits')
  return { project, publicKeyHex: publicKeyHex.toLowerCase() }
}
