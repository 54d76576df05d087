import { describe, expect, test } from '@jest/globals'
import type { SignatureErrorCode } from '../src/index.ts'
import {
  AGENT,
  COVERED,
  COVERED_WITH_CONTENT,
  CREATED,
  check,
  craft,
  type Draft,
  digestOf,
  fieldOf,
  NONCE,
  NOW,
  outcome,
  PARAMS,
  type Situation,
  signingKey,
  withField,
} from './support.ts'

// Every request here carries a genuine signature of what it says, wherever it can: only the rule under test refuses it,
// and the message pins which rule that was.

function refusal(code: SignatureErrorCode, message: string) {
  return (sentence: string, changes: Partial<Draft>, situation?: Situation): void => {
    test(sentence, () => expect(outcome(() => check(craft(changes), situation))).toEqual({ code, message }))
  }
}

/** A refusal with `invalid_signature`. */
function invalid(message: string) {
  return refusal('invalid_signature', message)
}

const input = (params: string, covered = COVERED): Partial<Draft> => ({ input: `sig1=${covered}${params}` })
const swap = (from: string, to: string): Partial<Draft> => input(PARAMS.replace(from, to))
const lines = (name: string, ...values: string[]): Partial<Draft> => ({
  headers: (rawHeaders) => withField(rawHeaders, name, ...values),
})
const twice = (name: string): Partial<Draft> => ({
  headers: (rawHeaders) => [...rawHeaders, name, fieldOf(rawHeaders, name)],
})
const agentNamed = (agent: string): Partial<Draft> => ({
  ...swap(AGENT, agent),
  agent: `sig1=${agent};pubkey="${signingKey.publicKeyHex}"`,
})

test('the request all refusals start from is accepted', () => {
  expect(outcome(() => check(craft()))).toBe('accepted')
})

describe('what is missing', () => {
  refusal('missing_signature', 'signature is missing')('a request without Signature is refused', lines('Signature'))
  refusal('missing_signature', 'signature-input is missing')(
    'a request without Signature-Input is refused',
    lines('Signature-Input'),
  )
  refusal('missing_signature', 'signature-agent is missing')(
    'a request without Signature-Agent is refused',
    lines('Signature-Agent'),
  )
  refusal('missing_signature', 'signature is missing')('an empty Signature is a missing one', lines('Signature', ''))
  refusal('missing_signature', 'signature-agent is missing')('a missing header outranks a malformed one', {
    input: 'junk',
    ...lines('Signature-Agent'),
  })
  invalid('host must occur exactly once')('a request without Host is refused', lines('Host'))
  refusal('missing_signature', 'signature is missing')('a request without any header is refused', {
    headers: () => [],
  })
})

describe('header lines', () => {
  invalid('signature must occur exactly once')('a second Signature line is refused', twice('Signature'))
  invalid('signature-input must occur exactly once')(
    'a second Signature-Input line is refused',
    twice('Signature-Input'),
  )
  invalid('signature-agent must occur exactly once')(
    'a second Signature-Agent line is refused',
    twice('Signature-Agent'),
  )
  invalid('host must occur exactly once')('a second Host line is refused', twice('Host'))
  invalid('host must occur exactly once')('a second Host line in another case is refused', twice('hOST'))
  invalid('content-digest must occur exactly once')('a second Content-Digest line is refused when covered', {
    ...input(PARAMS, COVERED_WITH_CONTENT),
    digest: digestOf('sha-256', ''),
    ...twice('Content-Digest'),
  })
  invalid('content-digest must occur exactly once')(
    'a covered Content-Digest that is absent is refused',
    input(PARAMS, COVERED_WITH_CONTENT),
  )
  invalid('signature-input is not printable ASCII')('Latin-1 text in a header is refused', agentNamed(`dém.${AGENT}`))
  invalid('signature-input is not printable ASCII')('a tab in a header is refused', swap(';nonce', ';\tnonce'))
  invalid('host is not printable ASCII')('a line break in a header is refused', { host: 'vault.test\n' })
  invalid('signature-input is over 1 KiB')('a Signature-Input over 1 KiB is refused', swap(NONCE, 'a'.repeat(1024)))
  invalid('signature-agent is over 1 KiB')('a Signature-Agent over 1 KiB is refused', {
    agent: `sig1=${'a'.repeat(1024)}`,
  })
  invalid('signature is over 1 KiB')('a Signature over 1 KiB is refused', { wrap: (text) => text.repeat(12) })
  invalid('host is over 1 KiB')('a Host over 1 KiB is refused', { host: 'a'.repeat(1025) })
})

describe('the Signature-Input member', () => {
  const label = invalid('the Signature-Input label is not sig1')
  label('another label is refused', { input: `sig2=${COVERED}${PARAMS}` })
  label('a label in upper case is refused', { input: `SIG1=${COVERED}${PARAMS}` })
  label('a space before the label is refused', { input: ` sig1=${COVERED}${PARAMS}` })

  const covered = invalid('the covered components are not the profile')
  covered('fewer components are refused', input(PARAMS, '("@method" "@authority")'))
  covered('no components are refused', input(PARAMS, '()'))
  covered('components in another order are refused', input(PARAMS, '("@authority" "@method" "@target-uri")'))
  covered('a component given twice is refused', input(PARAMS, '("@method" "@method" "@authority" "@target-uri")'))
  covered('a further component is refused', input(PARAMS, '("@method" "@authority" "@target-uri" "date")'))
  covered(
    'content-digest in another place is refused',
    input(PARAMS, '("content-digest" "@method" "@authority" "@target-uri")'),
  )
  covered('a component parameter is refused', input(PARAMS, '("@method" "@authority" "@target-uri";req)'))
  covered('two spaces between components are refused', input(PARAMS, '("@method"  "@authority" "@target-uri")'))
  covered('unquoted components are refused', input(PARAMS, '(@method @authority @target-uri)'))

  const malformed = invalid('a signature parameter is malformed')
  malformed('a second member after a semicolon is refused', input(`${PARAMS};, sig2=()`))
  malformed('a space before a parameter is refused', swap(';nonce', '; nonce'))
  malformed('a parameter without a value is refused', input(`${PARAMS};alg`))
  malformed('a parameter name in upper case is refused', swap(';nonce', ';NONCE'))
  malformed('a semicolon at the end is refused', input(`${PARAMS};`))

  invalid('keyid is not a string')('a second member right after keyid is refused', input(`${PARAMS}, sig2=()`))
  invalid('keyid is not a string')('a space at the end is refused', input(`${PARAMS} `))
  invalid('a signature parameter is unknown')('an unknown parameter is refused', input(`${PARAMS};tag="vault"`))

  const double = invalid('a signature parameter occurs twice')
  double('created given twice is refused', input(`;created=${CREATED}${PARAMS}`))
  double('nonce given twice is refused', input(`${PARAMS};nonce="${NONCE}"`))
  double('keyid given twice is refused', input(`${PARAMS};keyid="${AGENT}"`))
  double('alg given twice is refused', input(`${PARAMS};alg="ed25519";alg="ed25519"`))
})

describe('signature parameters', () => {
  const created = invalid('created is not an integer of at most 15 digits')
  created('created left out is refused', swap(`;created=${CREATED}`, ''))
  created('created with a leading zero is refused', swap(`created=${CREATED}`, `created=0${CREATED}`))
  created('created with 16 digits is refused', swap(`created=${CREATED}`, `created=${CREATED}000000`))
  created('created with a sign is refused', swap(`created=${CREATED}`, `created=-${CREATED}`))
  created('created as a decimal is refused', swap(`created=${CREATED}`, `created=${CREATED}.0`))
  created('created as a string is refused', swap(`created=${CREATED}`, `created="${CREATED}"`))
  created('created in hexadecimal is refused', swap(`created=${CREATED}`, 'created=0x6553f100'))

  const expires = invalid('expires is not an integer of at most 15 digits')
  expires('expires left out is refused', swap(`;expires=${CREATED + 300}`, ''))
  expires('expires with a leading zero is refused', swap('expires=', 'expires=0'))
  expires('expires with 16 digits is refused', swap(`expires=${CREATED + 300}`, `expires=${'9'.repeat(16)}`))

  const lifetime = invalid('expires is not created + 300')
  lifetime('expires one second early is refused', swap(`expires=${CREATED + 300}`, `expires=${CREATED + 299}`))
  lifetime('expires one second late is refused', swap(`expires=${CREATED + 300}`, `expires=${CREATED + 301}`))

  const nonce = invalid('the nonce is not 32 hex digits')
  nonce('a nonce of 31 digits is refused', swap(NONCE, NONCE.slice(1)))
  nonce('a nonce of 33 digits is refused', swap(NONCE, `${NONCE}0`))
  nonce('a nonce that is not hex is refused', swap(NONCE, NONCE.replace('0', 'g')))
  nonce('an empty nonce is refused', swap(NONCE, ''))
  nonce('an escaped nonce is refused', swap(NONCE, `\\"${NONCE.slice(2)}`))
  invalid('nonce is not a string')('a nonce left out is refused', swap(`;nonce="${NONCE}"`, ''))
  invalid('nonce is not a string')('a nonce without quotes is refused', swap(`"${NONCE}"`, NONCE))
  invalid('nonce is not a string')('a nonce of a lone quote is refused', swap(`"${NONCE}"`, '"'))

  invalid('keyid is not a string')('keyid left out is refused', swap(`;keyid="${AGENT}"`, ''))
  invalid('alg is not ed25519')('another alg is refused', input(`${PARAMS};alg="rsa-pss-sha512"`))
  invalid('alg is not ed25519')('alg in upper case is refused', input(`${PARAMS};alg="ED25519"`))
  invalid('alg is not a string')('alg as a token is refused', input(`${PARAMS};alg=ed25519`))
})

describe('the Signature member', () => {
  const member = invalid('the signature is not one sig1 member of 64 bytes')
  member('another label is refused', { wrap: (base64) => `sig2=:${base64}:` })
  member('a second member is refused', { wrap: (base64) => `sig1=:${base64}:, sig2=:${base64}:` })
  member('the same member twice is refused', { wrap: (base64) => `sig1=:${base64}:, sig1=:${base64}:` })
  member('a parameter is refused', { wrap: (base64) => `sig1=:${base64}:;x` })
  member('a signature without colons is refused', { wrap: (base64) => `sig1=${base64}` })
  member('a signature in quotes is refused', { wrap: (base64) => `sig1="${base64}"` })
  member('a space in front is refused', { wrap: (base64) => ` sig1=:${base64}:` })
  member('a signature of 63 bytes is refused', { signature: (bytes) => bytes.subarray(1) })
  member('a signature of 65 bytes is refused', { signature: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) })
  member('base64 without padding is refused', { wrap: (base64) => `sig1=:${base64.replaceAll('=', '')}:` })
  member('base64url is refused', { wrap: (base64) => `sig1=:_-${base64.slice(2)}:` })
  member('an empty signature is refused', { wrap: () => 'sig1=::' })

  invalid('the signature is not canonical base64')('base64 with spare bits set is refused', {
    wrap: (base64) => `sig1=:${base64.slice(0, 85)}${String.fromCharCode(base64.charCodeAt(85) + 1)}==:`,
  })

  const wrong = invalid('the signature does not verify')
  wrong('a signature of something else is refused', { signature: () => signingKey.sign(Buffer.from('else')) })
  wrong('a signature of zeros is refused', { signature: () => new Uint8Array(64) })
  wrong('S + L, the same signature written a second way, is refused', { signature: addGroupOrder })
})

describe('the agent', () => {
  const agent = (value: string): Partial<Draft> => ({ agent: value })
  const hex = signingKey.publicKeyHex

  const malformed = invalid('Signature-Agent is malformed')
  malformed('another label is refused', agent(`sig2=${AGENT};pubkey="${hex}"`))
  malformed('an agent without pubkey is refused', agent(`sig1=${AGENT}`))
  malformed('a pubkey without quotes is refused', agent(`sig1=${AGENT};pubkey=${hex}`))
  malformed('a further parameter is refused', agent(`sig1=${AGENT};pubkey="${hex}";x="1"`))
  malformed('a second member is refused', agent(`sig1=${AGENT};pubkey="${hex}", sig1=${AGENT};pubkey="${hex}"`))
  malformed('a space before pubkey is refused', agent(`sig1=${AGENT}; pubkey="${hex}"`))

  const differs = invalid('keyid and Signature-Agent differ')
  differs('another project in keyid is refused', swap(AGENT, `other.agents.vault.local`))
  differs('another project in Signature-Agent is refused', agent(`sig1=other.agents.vault.local;pubkey="${hex}"`))
  differs('a quoted agent is refused', agent(`sig1="${AGENT}";pubkey="${hex}"`))
  differs('keyid in another case is refused', swap('demo', 'Demo'))

  const outside = invalid('the agent is not under agents.vault.local')
  outside('an agent of another domain is refused', agentNamed('demo.agents.vault.example'))
  outside('an agent suffix in upper case is refused', agentNamed('demo.AGENTS.vault.local'))
  outside('the bare suffix is refused', agentNamed('agents.vault.local'))

  const name = invalid('the agent names no project')
  name('an empty project name is refused', agentNamed('.agents.vault.local'))
  name('a project name with a space is refused', agentNamed('de mo.agents.vault.local'))
  name('a project name with a comma is refused', agentNamed('a,sig1=b.agents.vault.local'))
  name('a project name of 256 characters is refused', agentNamed(`${'a'.repeat(256)}.agents.vault.local`))

  const key = invalid('pubkey is not 64 hex digits')
  key('a pubkey of 63 digits is refused', agent(`sig1=${AGENT};pubkey="${hex.slice(1)}"`))
  key('a pubkey of 65 digits is refused', agent(`sig1=${AGENT};pubkey="${hex}0"`))
  key('a pubkey that is not hex is refused', agent(`sig1=${AGENT};pubkey="${hex.replace(/^./, 'z')}"`))
  invalid('pubkey is not a valid key of the project')(
    'a key that is not the project’s is refused',
    agent(`sig1=${AGENT};pubkey="${'0'.repeat(64)}"`),
  )
})

describe('the request line and Host', () => {
  const target = invalid('the target is not a path with a query')
  target('an absolute-form target is refused', { target: 'http://vault.test:4200/v1/secrets' })
  target('an asterisk-form target is refused', { target: '*' })
  target('an authority-form target is refused', { target: 'vault.test:4200' })
  target('an empty target is refused', { target: '' })
  target('a target starting with two slashes is refused', { target: '//evil.test/v1/secrets' })
  target('a target starting with slash and backslash is refused', { target: '/\\evil.test/v1/secrets' })
  target('a target with a fragment is refused', { target: '/v1/secrets#x' })
  target('a target with a space is refused', { target: '/v1/secrets ?env=x' })
  target('a target with a line break is refused', { target: '/v1/secrets\n"@signature-params": ()' })
  target('a target outside ASCII is refused', { target: '/v1/sécrets' })

  const method = invalid('the method is not a token')
  method('an empty method is refused', { method: '' })
  method('a method with a space is refused', { method: 'GET ' })
  method('a method with a line break is refused', { method: 'GET\n"@authority": evil.test' })

  const host = invalid('host is not a name or address with an optional port')
  host('a Host with a path is refused', { host: 'vault.test/x' })
  host('a Host with user information is refused', { host: 'user@vault.test' })
  host('a Host with a query is refused', { host: 'vault.test?x' })
  host('a list of hosts is refused', { host: 'vault.test, evil.test' })
  host('a Host with a space is refused', { host: 'vault.test ' })
  host('a Host of a bare port is refused', { host: ':4200' })
  host('a port with a leading zero is refused', { host: 'vault.test:080' })
  host('a port of six digits is refused', { host: 'vault.test:123456' })
  host('a colon without a port is refused', { host: 'vault.test:' })
  host('an IPv6 address without brackets is refused', { host: '::1' })
  host('an empty Host is refused', { host: '' })

  const wrong = invalid('the signature does not verify')
  wrong('a signature for another host is refused', { authority: 'other.test' })
  wrong('a signature for a third spelling of the host is refused', { host: 'VAULT.test', authority: 'vault.TEST' })
  wrong('a signature with the other scheme’s default port dropped is refused', {
    host: 'vault.test:443',
    authority: 'vault.test',
  })
})

describe('time', () => {
  const expired = refusal('expired', 'created is more than 5 minutes away from now')
  expired('a request signed 300.001 s ago is refused', {}, { now: NOW + 300_001 })
  expired('a request signed 300.001 s ahead is refused', {}, { now: NOW - 300_001 })
  expired('a clock that is not a number refuses everything', {}, { now: Number.NaN })
  invalid('the signature does not verify')(
    'a bad signature is refused as such even when it is old',
    { authority: 'other.test' },
    { now: NOW + 900_000 },
  )
})

describe('the body', () => {
  const body = '{"key":"A","value":"1"}'
  const covering = (digest: string): Partial<Draft> => ({ ...input(PARAMS, COVERED_WITH_CONTENT), digest })
  const right = digestOf('sha-256', body)

  const differs = invalid('content-digest does not match the body')
  differs('another body is refused', covering(right), { body: `${body} ` })
  differs('a missing body is refused', covering(right))
  differs('a second algorithm whose digest differs is refused', covering(`${right}, ${digestOf('sha-512', '')}`), {
    body,
  })
  differs('a digest without padding is refused', covering(right.replace(/=:$/, ':')), { body })

  const form = invalid('content-digest is not one sha-256 or sha-512 value each')
  form('a digest in an unknown algorithm is refused', covering('md5=:1B2M2Y8AsgTpgAmY7PhCfg==:'))
  form('an unknown algorithm beside a known one is refused', covering(`${right}, sha=:2jmj7l5rSw0yVb/vlWAYkK/YBwk=:`), {
    body,
  })
  form('an algorithm given twice is refused', covering(`${right}, ${right}`), { body })
  form('an algorithm in upper case is refused', covering(right.replace('sha', 'SHA')), { body })
  form('a parameter of the digest is refused', covering(`${right};q=1`), { body })
  form('a digest in quotes is refused', covering(right.replaceAll(':', '"')), { body })
  form('a comma at the end is refused', covering(`${right},`), { body })

  invalid('the body is not covered')(
    'an uncovered body is refused where coverage is required',
    { digest: right },
    { body, contentRequired: true },
  )
  refusal('expired', 'created is more than 5 minutes away from now')(
    'an old request is refused as such even when its body differs',
    covering(right),
    { now: NOW + 300_001 },
  )
})

/** Adds the group order to S, the second half of a signature, little-endian. Verifiers that skip S < L accept it. */
function addGroupOrder(signature: Uint8Array): Uint8Array {
  const bytes = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`)
  const sum = s + 2n ** 252n + 27742317777372353535851937790883648493n
  Buffer.from(sum.toString(16).padStart(64, '0'), 'hex').reverse().copy(bytes, 32)
  return bytes
}
