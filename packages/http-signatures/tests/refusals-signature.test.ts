import { describe } from '@jest/globals'
import { agentNamed, input, invalid, swap } from './refusal-support.ts'
import { AGENT, COVERED, CREATED, type Draft, NONCE, PARAMS, signingKey } from './support.ts'

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

/** Adds the group order to S, the second half of a signature, little-endian. Verifiers that skip S < L accept it. */
function addGroupOrder(signature: Uint8Array): Uint8Array {
  const bytes = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`)
  const sum = s + 2n ** 252n + 27742317777372353535851937790883648493n
  Buffer.from(sum.toString(16).padStart(64, '0'), 'hex').reverse().copy(bytes, 32)
  return bytes
}
