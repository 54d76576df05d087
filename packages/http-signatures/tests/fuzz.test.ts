import { describe, expect, test } from '@jest/globals'
import { damaged } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import { parsePublicKey, type ReceivedMessage, signRequest } from '../src/index.ts'
import { AGENT, CREATED, check, fieldOf, NONCE, outcome, PRIVATE_JWK, signingKey } from './support.ts'

// FUZZ_SEED=<n> repeats or varies a run, TRIALS=<n> lengthens it.
const RUNS = {
  seed: Number(process.env['FUZZ_SEED'] ?? 9421),
  numRuns: 1_000 * Number(process.env['TRIALS'] ?? 1),
}

const TOKENS = [
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\u0000',
    '"',
    '\\',
    ';',
    ',',
    ', ',
    ':',
    '=',
    '==',
    '(',
    ')',
    '/',
    '//',
    '?',
    '#',
    '@',
    '0',
    '-1',
  ],
  ...[
    'sig1',
    'sig1=',
    'sig2=()',
    ';created=1',
    ';expires=1',
    ';alg="ed25519"',
    ';tag="x"',
    '"@method"',
    '"content-digest"',
  ],
  ...['é', '\u{1f511}', '\u212a', 'A'.repeat(1100), AGENT, NONCE, ':80', 'http://evil.test', '__proto__', '%00', '::1'],
]

/** A text that is damaged, or written in another way that may mean the same. */
function changed(text: string): fc.Arbitrary<string> {
  const [first = '', ...parameters] = text.split(';')
  const rewritten = [
    ...[text.toUpperCase(), text.toLowerCase(), `${text}, ${text}`, ...TOKENS],
    ...[[first, ...parameters.toReversed()], ...parameters.map((each) => [first, ...parameters, each])].map((parts) =>
      parts.join(';'),
    ),
  ]
  return fc.oneof(
    { arbitrary: damaged(fc.constant(text), TOKENS, 2), weight: 3 },
    { arbitrary: fc.constantFrom(...rewritten), weight: 1 },
  )
}

/** A message with a change somewhere: in its first line, in a header's name or value, or in the list of headers. */
function mutantsOf(message: ReceivedMessage): fc.Arbitrary<ReceivedMessage> {
  const { method, target, rawHeaders } = message
  const lists = rawHeaders.flatMap((name, line) => {
    if (line % 2 === 1) return []
    const value = rawHeaders[line + 1] ?? ''
    return [
      changed(value).map((other) => rawHeaders.with(line + 1, other)),
      changed(name).map((other) => rawHeaders.with(line, other)),
      changed(value).map((other) => [...rawHeaders, name, other]),
      fc.constantFrom(rawHeaders.toSpliced(line, 2), rawHeaders.toSpliced(line, 1), rawHeaders.toSpliced(line + 1, 1), [
        name,
        value,
        ...rawHeaders,
      ]),
    ]
  })
  return fc.oneof(
    { arbitrary: changed(method).map((other): ReceivedMessage => ({ ...message, method: other })), weight: 1 },
    { arbitrary: changed(target).map((other): ReceivedMessage => ({ ...message, target: other })), weight: 1 },
    {
      arbitrary: fc.constantFrom('http', 'https').map((scheme): ReceivedMessage => ({ ...message, scheme })),
      weight: 1,
    },
    { arbitrary: fc.oneof(...lists).map((list): ReceivedMessage => ({ ...message, rawHeaders: list })), weight: 7 },
  )
}

/** The signed meaning of a message: two messages with equal meanings are the same request. */
function meaning({ method, scheme, target, rawHeaders }: ReceivedMessage): string {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((entry) => entry.toLowerCase())
  const read = ['signature', 'signature-input', 'content-digest', 'signature-agent', 'host'].map((name) => {
    const value = fieldOf(rawHeaders, name)
    // The spellings that may vary: a host's case and default port, and the case of hex in the unsigned agent.
    if (name === 'host') return value.toLowerCase().replace(scheme === 'http' ? /:80$/ : /:443$/, '')
    if (name === 'signature-agent') return value.replace(/[0-9A-F]{64}/i, (hex) => hex.toLowerCase())
    return `${value}×${names.filter((other) => other === name).length}`
  })
  const repeated = ['host', 'signature-agent'].map((name) => names.filter((other) => other === name).length)
  return JSON.stringify([method, scheme, target, read, repeated])
}

const body = '{"key":"A","value":"1"}'
const originals = ['http://vault.test/v1/secrets?env=production', 'https://vault.test:4200/v1/secrets'].map((url) => {
  const { protocol, host, pathname, search } = new URL(url)
  const headers = signRequest({
    method: 'PUT',
    url,
    project: 'demo',
    key: signingKey,
    created: CREATED,
    nonce: NONCE,
    body,
  })
  return {
    method: 'PUT',
    scheme: protocol === 'http:' ? 'http' : 'https',
    target: pathname + search,
    rawHeaders: ['Host', host, 'Accept', '*/*', ...Object.entries(headers).flat()],
  } satisfies ReceivedMessage
})

describe(`fuzzing with seed ${RUNS.seed}`, () => {
  test('a mutated request is accepted exactly when it still means the same', () => {
    const mutants = originals.map((original) => fc.tuple(fc.constant(meaning(original)), mutantsOf(original)))
    const codes = new Set<string>()
    fc.assert(
      fc.property(fc.oneof(...mutants), ([original, mutant]) => {
        // Anything but the typed error leaves `outcome` and fails the test.
        const result = outcome(() => check(mutant, { body }))
        codes.add(result === 'accepted' ? result : result.code)
        expect(result === 'accepted').toBe(meaning(mutant) === original)
      }),
      RUNS,
    )
    expect([...codes].sort()).toEqual(['accepted', 'invalid_signature', 'missing_signature'])
  })

  test('no single bit of anything covered can flip', () => {
    for (const original of originals) {
      for (const name of ['Signature', 'Signature-Input', 'Content-Digest', 'Host']) {
        const at = original.rawHeaders.indexOf(name) + 1
        const value = original.rawHeaders[at] ?? ''
        for (let bit = 0; bit < value.length * 8; bit += 1) {
          const flipped = value.replace(/[^]/g, (character, i) =>
            i === bit >> 3 ? String.fromCharCode(character.charCodeAt(0) ^ (1 << (bit & 7))) : character,
          )
          // Host names do not depend on case, and bit 5 is the case of a letter.
          if (name === 'Host' && flipped.toLowerCase() === value.toLowerCase()) continue
          const mutant = { ...original, rawHeaders: original.rawHeaders.with(at, flipped) }
          expect(outcome(() => check(mutant, { body }))).toMatchObject({ code: 'invalid_signature' })
        }
      }
    }
  })

  test('a mutated key is accepted unchanged or refused with the typed error', () => {
    const publicJwk = PRIVATE_JWK.replace(/"d":"[^"]+",/, '')
    const numRuns = RUNS.numRuns / 4
    let refused = 0
    fc.assert(
      fc.property(fc.oneof(...[signingKey.publicKeyHex, publicJwk, PRIVATE_JWK].map(changed)), (input) => {
        const result = outcome(() => parsePublicKey(input))
        if (result === 'accepted') return
        expect(result.code).toBe('invalid_public_key')
        refused += 1
      }),
      { ...RUNS, numRuns },
    )
    expect(refused).toBeGreaterThan(numRuns / 2)
  })
})
