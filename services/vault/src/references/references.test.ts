import { describe, expect, test } from '@jest/globals'
import {
  createResolver,
  parseTemplate,
  type Reference,
  type ReferenceFailure,
  type Source,
  type SourceValue,
} from './references.ts'

const LIMITS = { valueBytes: 65_536, totalBytes: 1_000_000 }

const own = (key: string): Reference => ({ text: key, place: undefined, key })

test.each<[string, SourceValue]>([
  ['', []],
  ['plain', ['plain']],
  ['$', ['$']],
  ['$$', ['$$']],
  ['$A {B}', ['$A {B}']],
  ['${A}', ['', own('A')]],
  ['a${A}b${A.B}c', ['a', own('A'), 'b', own('A.B'), 'c']],
  ['$${A}', ['', '${', 'A}']],
  ['$$${A}', ['$', '${', 'A}']],
  ['${A}$${', ['', own('A'), '', '${']],
  ['${A}${B}', ['', own('A'), '', own('B')]],
  ['${__proto__}', ['', own('__proto__')]],
  ['${ A }', ['', own(' A ')]],
  [
    '${shop.production.DB_URL}',
    ['', { text: 'shop.production.DB_URL', place: { project: 'shop', env: 'production' }, key: 'DB_URL' }],
  ],
])('parses %j', (text, parts) => {
  expect(parseTemplate(text)).toEqual(parts)
})

test.each([
  '${}',
  '${',
  '${A',
  'a ${A} ${B',
  '${a.b.c.d}',
  '${..}',
  '${.a.b}',
  '${a..b}',
  '${a.b.}',
  '${a/b.c.D}',
  '${A\u0000}',
  '${A\n}',
  `\${${'x'.repeat(257)}}`,
  '${A}'.repeat(101),
])('refuses %j', (text) => {
  expect(parseTemplate(text)).toEqual({ problem: expect.any(String) })
})

/** Resolves a key of environments of projects; `allowed` decides between projects. */
function resolveIn(
  places: Readonly<Record<string, Readonly<Record<string, string>>>>,
  allowed: (from: string, to: string, key: string) => boolean = () => true,
  limits = LIMITS,
) {
  const sources = new Map<string, Source>()
  for (const [name, values] of Object.entries(places)) {
    const [project = '', env = ''] = name.split('/')
    const parsed = new Map(
      Object.entries(values).map(([key, text]): [string, SourceValue] => {
        const value = parseTemplate(text)
        if ('problem' in value) throw new Error(value.problem)
        return [key, value]
      }),
    )
    const source: Source = {
      project,
      valueOf: (key) => parsed.get(key),
      sourceOf: ({ place, key }) => {
        if (place === undefined) return source
        const target = sources.get(`${place.project}/${place.env}`)
        const isAllowed =
          place.project === project || allowed(`${project}/${env}`, `${place.project}/${place.env}`, key)
        return target !== undefined && isAllowed ? target : 'not allowed'
      },
    }
    sources.set(name, source)
  }
  const resolver = createResolver(limits)
  return (place: string, key: string): string | ReferenceFailure => {
    const source = sources.get(place)
    const value = source?.valueOf(key)
    if (source === undefined || value === undefined) throw new Error(`${place} has no ${key}`)
    return resolver.resolve(source, key, value)
  }
}

test('resolves references of references, each in its own environment', () => {
  const resolve = resolveIn({
    'shop/production': { HOST: 'shop.example.org', URL: '${db.main.URL}?app=${HOST}', LITERAL: '$${HOST}' },
    'db/main': { HOST: 'db.example.org', URL: 'pg://${USER}@${HOST}', USER: 'app' },
  })
  expect(resolve('shop/production', 'URL')).toBe('pg://app@db.example.org?app=shop.example.org')
  expect(resolve('shop/production', 'LITERAL')).toBe('${HOST}')
})

describe('names the reference that is', () => {
  const places = {
    'shop/production': {
      ...{ MISSING: '${NONE}', CHAIN: '${MISSING}', SELF: '${SELF}', A: 'x${B}', B: '${C}', C: '${A}' },
      ...{ NOWHERE: '${shop.none.X}', DENIED: '${db.main.X}', INNER: '${db.main.BROKEN}', ROUND: '${db.main.ROUND}' },
    },
    'db/main': { X: 'x', BROKEN: '${PRIVATE_NAME}', ROUND: '${shop.production.ROUND}' },
  }
  const resolve = resolveIn(places, (_from, _to, key) => key !== 'X')
  test.each([
    ['MISSING', { key: 'MISSING', reference: 'NONE', problem: 'missing' }],
    ['CHAIN', { key: 'MISSING', reference: 'NONE', problem: 'missing' }],
    ['SELF', { key: 'SELF', reference: 'SELF', problem: 'circular' }],
    ['A', { key: 'C', reference: 'A', problem: 'circular' }],
    ['NOWHERE', { key: 'NOWHERE', reference: 'shop.none.X', problem: 'not allowed' }],
    ['DENIED', { key: 'DENIED', reference: 'db.main.X', problem: 'not allowed' }],
    // Names of another project stay there.
    ['INNER', { key: 'INNER', reference: 'db.main.BROKEN', problem: 'unresolved' }],
    ['ROUND', { key: 'ROUND', reference: 'db.main.ROUND', problem: 'circular' }],
  ])('%s', (key, failure) => {
    expect(resolve('shop/production', key)).toEqual(failure)
  })
})

describe('bounds', () => {
  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`K${String(i)}`, i === 0 ? 'end' : `\${K${String(i - 1)}}`]))

  test('the depth, in whichever order values are resolved', () => {
    for (const order of [(a: number[]) => a, (a: number[]) => a.toReversed()]) {
      const resolve = resolveIn({ 'shop/production': chain(19) })
      const failed = order(Array.from({ length: 19 }, (_, i) => i)).filter(
        (i) => typeof resolve('shop/production', `K${String(i)}`) !== 'string',
      )
      expect(failed.toSorted((a, b) => a - b)).toEqual([17, 18])
    }
  })

  test('a value, before it is built', () => {
    const ten = (key: string) => `\${${key}}`.repeat(100)
    const values = { A: 'x'.repeat(600), B: ten('A'), C: ten('B'), D: ten('C'), E: ten('D') }
    const resolve = resolveIn({ 'shop/production': values })
    expect(resolve('shop/production', 'B')).toHaveLength(60_000)
    expect(resolve('shop/production', 'E')).toMatchObject({ problem: 'too large' })
  })

  test('all values together', () => {
    const values = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`K${String(i)}`, i === 0 ? 'ä'.repeat(30_000) : '${K0}']),
    )
    const resolve = resolveIn({ 'shop/production': values })
    const results = Object.keys(values).map((key) => resolve('shop/production', key))
    expect(results.filter((each) => typeof each === 'string')).toHaveLength(16)
    expect(results[16]).toMatchObject({ problem: 'too large' })
  })
})
