import fc from 'fast-check'

type Change = (text: string, at: number, length: number, token: string) => string

/** Changes at a position, as a careless or hostile client makes them. */
const CHANGES: Readonly<Record<string, Change>> = {
  insert: (text, at, _length, token) => text.slice(0, at) + token + text.slice(at),
  replace: (text, at, length, token) => text.slice(0, at) + token + text.slice(at + length),
  remove: (text, at, length) => text.slice(0, at) + text.slice(at + 1 + length),
  repeat: (text, at, length) => text.slice(0, at + 1 + length) + text.slice(at),
  flip: (text, at, length) =>
    text.slice(0, at) + String.fromCharCode((text.charCodeAt(at) || 65) ^ (1 << (length % 8))) + text.slice(at + 1),
  cut: (text, at) => text.slice(0, at),
  turn: (text, at) => text.slice(at) + text.slice(0, at),
}

/** Mostly short, so that the damaged text is often read further. */
const lengths = fc.oneof({ arbitrary: fc.nat(2), weight: 3 }, { arbitrary: fc.nat(60), weight: 1 })
const noise = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 3 })

/**
 * Damage to one or more places of a text. Bytes are a text in latin1.
 *
 * @param tokens that mean something to the reader of the text
 * @param most the number of damaged places
 */
export function damages(tokens: readonly string[], most = 4): fc.Arbitrary<(text: string) => string> {
  const token = fc.oneof({ arbitrary: fc.constantFrom(...tokens), weight: 3 }, { arbitrary: noise, weight: 1 })
  const changes = fc.tuple(fc.constantFrom(...Object.values(CHANGES)), fc.nat(), lengths, token)
  return fc
    .array(changes, { minLength: 1, maxLength: most })
    .map(
      (list) => (text) =>
        list.reduce((changed, [change, at, ...rest]) => change(changed, at % (changed.length + 1), ...rest), text),
    )
}

/** Damaged texts. */
export function damaged(texts: fc.Arbitrary<string>, tokens: readonly string[], most = 4): fc.Arbitrary<string> {
  return fc.tuple(texts, damages(tokens, most)).map(([text, damage]) => damage(text))
}
