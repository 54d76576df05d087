import fc from 'fast-check'

/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>

/** Texts that are likely to break something: dates that do not exist, joiners, lone surrogates, NUL, odd numbers. */
const TEXTS = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00x', '\u200d', '\u202egnp.exe', 'Family 👨‍👩‍👧 2020'],
  ...['Show.2021.02.31', 'Show.2021.13.45.720p.HDTV.x264-GRP', '31.02.2021', 'S00E00', 'S9999E999999999999'],
  ...[
    '2021-02-31T12:00:00Z',
    '-000044-03-15T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '9999-12-31T23:59:59.999+23:59',
  ],
  ...['0', '-1', '1e3', '0x10', '9007199254740993', '1'.repeat(400), 'NaN', 'null', 'true', '%', '%00', '%ff'],
  ...['../../etc/passwd', "' or 1=1 --", '{{7*7}}', '__proto__', 'constructor', '<script>', 'a|b&c!d:*', '\\', '"'],
  ...['('.repeat(200), 'x'.repeat(5_000), 'é'.repeat(255), '\u{1F600}'.repeat(128)],
]

const NUMBERS = [0, -0, -1, 1, 0.5, 100, 101, 10_001, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e308, 5e-324] as const

/** Text of every kind. */
export const wildText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

/** Values of every JSON type, regardless of the schema. */
const wildValue: fc.Arbitrary<unknown> = fc.oneof(
  wildText,
  fc.constantFrom(...NUMBERS),
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { id: {} }, JSON.parse('{"__proto__":{"a":1}}')),
  fc.array(wildText, { maxLength: 3 }),
  fc.dictionary(wildText, fc.constantFrom<unknown>(null, 1, 'x'), { maxKeys: 3 }),
)

/**
 * Values of a schema, in which each part is a wild value now and then.
 *
 * @param resolve finds the schema that a reference names
 */
export function valuesOf(schema: Schema, resolve: (reference: string) => Schema): fc.Arbitrary<unknown> {
  const { $ref: reference } = schema
  if (typeof reference === 'string') return valuesOf(resolve(reference), resolve)
  return fc.oneof({ arbitrary: fitting(schema, resolve), weight: 4 }, { arbitrary: wildValue, weight: 1 })
}

function fitting(schema: Schema, resolve: (reference: string) => Schema): fc.Arbitrary<unknown> {
  const choices = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as Schema[] | undefined
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => valuesOf(choice, resolve)))
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  if ('const' in schema) return fc.constant(schema['const'])
  switch (schema['type']) {
    case 'object':
      return objectsOf(schema, resolve)
    case 'array':
      return fc.array(valuesOf((schema['items'] ?? {}) as Schema, resolve), { maxLength: 4 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'integer':
    case 'number':
      return numbersOf(schema)
    case 'string':
      return textsOf(schema)
    default:
      return wildValue
  }
}

/** Objects with all or some members, and now and then an unknown one. */
function objectsOf(schema: Schema, resolve: (reference: string) => Schema): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>)
  const members = Object.fromEntries(properties.map(([name, value]) => [name, valuesOf(value, resolve)]))
  const known = fc.oneof(fc.record(members), fc.record(members, { requiredKeys: [] }))
  const unknown = fc.dictionary(fc.oneof(fc.constant('unknown'), wildText), wildValue, { minKeys: 1, maxKeys: 2 })
  const extended = fc.tuple(known, unknown).map(([value, more]) => ({ ...value, ...more }))
  return fc.oneof({ arbitrary: known, weight: 5 }, { arbitrary: extended, weight: 1 })
}

function numbersOf({ minimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = typeof minimum === 'number' ? Math.max(minimum, -(2 ** 31)) : 0
  const max = typeof maximum === 'number' ? Math.min(maximum, 2 ** 31 - 1) : 1_000
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, min - 1, max + 1, min + 0.5))
}

function textsOf({ pattern, format, maxLength }: Schema): fc.Arbitrary<string> {
  const limit = typeof maxLength === 'number' ? Math.min(maxLength, 300) : 40
  const choices = [fc.string({ maxLength: limit }), fc.string({ unit: 'grapheme', maxLength: limit })]
  if (format === 'date-time') choices.push(fc.date({ noInvalidDate: true }).map((date) => date.toISOString()))
  if (format === 'email') choices.push(fc.emailAddress())
  if (typeof pattern === 'string') choices.push(...matching(pattern))
  return fc.oneof(...choices)
}

/** Strings that match a pattern. Nothing if fast-check does not support it. */
function matching(pattern: string): fc.Arbitrary<string>[] {
  try {
    const arbitrary = fc.stringMatching(new RegExp(pattern, 'u'))
    fc.sample(arbitrary, 1)
    return [arbitrary]
  } catch {
    return []
  }
}
