import { describe, expect, test } from '@jest/globals'
import { parsePublicKey, type ReceivedMessage, signRequest } from '../src/index.ts'
import { AGENT, CREATED, check, fieldOf, NONCE, outcome, PRIVATE_JWK, signingKey } from './support.ts'

// FUZZ_SEED=<n> repeats or varies a run, TRIALS=<n> lengthens it. A failure names its seed.
const SEED = Number(process.env['FUZZ_SEED'] ?? 9421)
const RUNS = 4_000 * Number(process.env['TRIALS'] ?? 1)

type Random = { readonly below: (limit: number) => number; readonly pick: <T>(items: readonly T[]) => T }

/** Mulberry32: small, and the same everywhere. */
function seeded(seed: number): Random {
  let state = seed >>> 0
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % limit
  }
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
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

/** Damages a text at one place, the way a careless or hostile client might. */
function damage(text: string, { below, pick }: Random): string {
  const at = below(text.length + 1)
  const [head, tail] = [text.slice(0, at), text.slice(at)]
  const parts = text.split(';')
  return pick([
    () => head + pick(TOKENS) + tail,
    () => head + tail.slice(1 + below(3)),
    () => head + String.fromCharCode((tail.charCodeAt(0) || 65) ^ (1 << below(8))) + tail.slice(1),
    () => head + tail.charAt(0) + tail,
    () => head,
    () => tail + head,
    () => text.toUpperCase(),
    () => text.toLowerCase(),
    () => [...parts.slice(0, 1), ...parts.slice(1).reverse()].join(';'),
    () => [...parts, pick(parts)].join(';'),
    () => `${text}, ${text}`,
    () => pick(TOKENS),
  ])()
}

/** Changes the request somewhere: a line of it, a header's name or value, or the list of headers. */
function mutate(message: ReceivedMessage, random: Random): ReceivedMessage {
  const { below, pick } = random
  const rawHeaders = [...message.rawHeaders]
  const line = 2 * below(rawHeaders.length / 2)
  const [name = '', value = ''] = rawHeaders.slice(line, line + 2)
  return pick<() => ReceivedMessage>([
    () => ({ ...message, method: damage(message.method, random) }),
    () => ({ ...message, target: damage(message.target, random) }),
    () => ({ ...message, scheme: message.scheme === 'http' ? 'https' : 'http' }),
    () => ({ ...message, rawHeaders: rawHeaders.with(line + 1, damage(value, random)) }),
    () => ({ ...message, rawHeaders: rawHeaders.with(line + 1, damage(damage(value, random), random)) }),
    () => ({ ...message, rawHeaders: rawHeaders.with(line, damage(name, random)) }),
    () => ({ ...message, rawHeaders: rawHeaders.toSpliced(line, 2) }),
    () => ({ ...message, rawHeaders: rawHeaders.toSpliced(below(rawHeaders.length), 1) }),
    () => ({ ...message, rawHeaders: [...rawHeaders, name, damage(value, random)] }),
    () => ({ ...message, rawHeaders: [name, value, ...rawHeaders] }),
  ])()
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

describe(`fuzzing with seed ${SEED}`, () => {
  test('a mutated request is accepted exactly when it still means the same', () => {
    const random = seeded(SEED)
    const codes = new Set<string>()
    for (let run = 0; run < RUNS; run += 1) {
      const original = random.pick(originals)
      const mutant = mutate(original, random)
      // Anything but the typed error leaves `outcome` and fails the test.
      const result = outcome(() => check(mutant, { body }))
      const expected = meaning(mutant) === meaning(original)
      if ((result === 'accepted') !== expected) expect({ run, mutant, result }).toBe(expected)
      codes.add(result === 'accepted' ? result : result.code)
    }
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
    const random = seeded(SEED)
    const publicJwk = PRIVATE_JWK.replace(/"d":"[^"]+",/, '')
    let refused = 0
    for (let run = 0; run < RUNS / 4; run += 1) {
      const input = damage(random.pick([signingKey.publicKeyHex, publicJwk, PRIVATE_JWK]), random)
      const result = outcome(() => parsePublicKey(input))
      if (result !== 'accepted') {
        expect(result.code).toBe('invalid_public_key')
        refused += 1
      }
    }
    expect(refused).toBeGreaterThan(RUNS / 8)
  })
})
