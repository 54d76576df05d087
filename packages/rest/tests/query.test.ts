import { expect, test } from '@jest/globals'
import { readQuery } from '../src/index.ts'

const read = (target: string) =>
  readQuery(target, ['env', 'limit'], ({ name, problem }) => new Error(`${name}: ${problem}`))

test.each([
  ['/x', {}],
  ['/x?', {}],
  ['/x?env=a', { env: 'a' }],
  ['/x?env=', { env: '' }],
  ['/x?env', { env: '' }],
  ['/x?limit=1&&env=a%20b+c', { env: 'a b c', limit: '1' }],
  ['/x?env=a=b', { env: 'a=b' }],
  ['/x?%65nv=%C3%A9', { env: 'é' }],
  ['/x?other=1&env=a', { env: 'a' }],
  ['/x?env=a?b', { env: 'a?b' }],
])('%s has %j', (target, expected) => {
  expect(read(target)).toEqual(expected)
})

test.each(['/x?env=a&env=a', '/x?env=a&%65nv=b'])('%s has a parameter twice, which is named', (target) => {
  expect(() => read(target)).toThrow('env: occurs twice')
})

test('an unknown parameter that occurs twice is not named', () => {
  expect(() => read('/x?other=1&other=2')).toThrow('query: a parameter occurs twice')
})

test.each(['/x?env[]=a', '/x?env[x]=a', '/x?env%5B%5D=a'])('%s has brackets', (target) => {
  expect(() => read(target)).toThrow('env: must be one value')
})

test.each(['/x?env=%', '/x?env=%zz', '/x?env=%ff', '/x?%=1', '/x?other=%E0%A4'])(
  '%s has a malformed escape',
  (target) => {
    expect(() => read(target)).toThrow('query: has a malformed percent-escape')
  },
)
