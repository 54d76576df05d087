import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import {
  DecryptionError,
  dataKeyVersionOf,
  decrypt,
  decryptValue,
  encrypt,
  encryptValue,
  formatOf,
} from './envelope.ts'
import { assertMatches } from './key-check.ts'
import { KeyringError, unwrapKey, wrapKey } from './keyring.ts'
import { parseKeyring, parseKeyringFile } from './local-keys.ts'

const newKey = () => randomBytes(32).toString('base64')
const [one, two] = [newKey(), newKey()]
const file = (keys: Record<string, unknown>, active: unknown = 'k1') => JSON.stringify({ active, keys })
const keyring = parseKeyring(file({ k1: one, k2: two }), '')

test('a file and a list give the same keyring', () => {
  const list = parseKeyring(`k1:${one}, k2:${two}`, 'k1')
  expect([...list.keys.keys()]).toEqual(['k1', 'k2'])
  expect(list.keys.get('k2')?.fingerprint).toBe(keyring.keys.get('k2')?.fingerprint)
  expect(list.keys.get('k2')?.fingerprint).toMatch(/^[0-9a-f]{16}$/)
  expect(list.keys.get('k1')?.fingerprint).not.toBe(list.keys.get('k2')?.fingerprint)
})

test.each([
  ['no JSON', 'x', 'must be JSON'],
  ['an array of keys', JSON.stringify({ active: 'k1', keys: [one] }), 'must be JSON'],
  ['a key id twice', `{"active":"k1","keys":{"k1":"${one}","k1":"${two}"}}`, 'duplicate names'],
  ['no active key', JSON.stringify({ keys: { k1: one } }), 'must be JSON'],
  ['no keys', file({}), 'the active key is not in the keyring'],
  ['another active key', file({ k1: one }, 'k2'), 'the active key is not in the keyring'],
  ['a key of 31 bytes', file({ k1: randomBytes(31).toString('base64') }), 'exactly 32 bytes'],
  ['a key in hex', file({ k1: randomBytes(32).toString('hex') }), 'exactly 32 bytes'],
  [
    'a key with bits left over',
    file({ k1: `${one.slice(0, -2)}${one.at(-2) === 'B' ? 'C' : 'B'}=` }),
    'exactly 32 bytes',
  ],
  ['a number for a key', file({ k1: 7 }), 'exactly 32 bytes'],
  ['zeros for a key', file({ k1: Buffer.alloc(32).toString('base64') }), 'not random'],
  ['one key under two ids', file({ k1: one, k2: one }), 'second id'],
  ['a bad id', file({ 'k 1': one }, 'k 1'), 'key id must be'],
])('refuses a keyring with %s, without its material', (_name, text, problem) => {
  let message = ''
  try {
    parseKeyringFile(text)
  } catch (error) {
    message = error instanceof KeyringError ? error.message : 'another error'
  }
  expect(message).toContain(problem)
  expect(message).not.toContain(one)
})

test('reports all problems of a list at once', () => {
  const list = () => parseKeyring(`k1:${one},k1:${two},bad id:${two},k4`, 'k9')
  expect(list).toThrow(/k1 occurs twice.*key id must be.*active/)
})

const owner = { purpose: 'dek', owner: '01890a5d-ac96-774b-bcce-b302099a8057', version: 1 } as const

test('wraps a data key with the active key, for its owner only', async () => {
  const dataKey = createSecretKey(randomBytes(32))
  const stored = await wrapKey(keyring, dataKey, owner)
  expect(stored.kekId).toBe('k1')
  expect((await unwrapKey(keyring, stored, owner)).equals(dataKey)).toBe(true)
  const wrongOwners = [
    { ...owner, version: 2 },
    { ...owner, owner: 'other' },
    { ...owner, purpose: 'audit' as const },
  ]
  for (const wrong of wrongOwners) await expect(unwrapKey(keyring, stored, wrong)).rejects.toThrow(DecryptionError)
  await expect(unwrapKey(keyring, { ...stored, kekId: 'k2' }, owner)).rejects.toThrow(DecryptionError)
  await expect(unwrapKey(keyring, { ...stored, kekId: 'k3' }, owner)).rejects.toThrow('k3 is not in the keyring')
  expect((await wrapKey(keyring, dataKey, owner)).wrapped).not.toEqual(stored.wrapped)
})

const place = { projectUid: owner.owner, env: 'ab', key: 'c', version: 3 }
const dataKey = createSecretKey(randomBytes(32))

test('a value decrypts only at its place, even if another place has the same concatenation', () => {
  const blob = encryptValue(dataKey, 7, place, 'value')
  expect(dataKeyVersionOf(blob)).toBe(7)
  expect(decryptValue(dataKey, place, blob)).toBe('value')
  const elsewhere = [
    { ...place, env: 'a', key: 'bc' },
    { ...place, key: 'C' },
    { ...place, version: 4 },
    { ...place, projectUid: '01890a5d-ac96-774b-bcce-b302099a8058' },
  ]
  for (const other of elsewhere) expect(() => decryptValue(dataKey, other, blob)).toThrow(DecryptionError)
  expect(() => decryptValue(createSecretKey(randomBytes(32)), place, blob)).toThrow(DecryptionError)
})

test('authenticates the header of a value', () => {
  const blob = encryptValue(dataKey, 7, place, 'value')
  blob.writeUInt32BE(8, 2)
  expect(() => decryptValue(dataKey, place, blob)).toThrow(DecryptionError)
  for (const unknown of [
    Buffer.alloc(0),
    Buffer.from([1, 1, 0]),
    Buffer.from([0, 1, 0, 0, 0, 1]),
    Buffer.from([3, 1, 0, 0, 0, 1]),
    Buffer.from([1, 2, 0, 0, 0, 1]),
  ])
    expect(() => dataKeyVersionOf(unknown)).toThrow(DecryptionError)
})

test('a value decrypts only in its format', () => {
  for (const [format, other] of [
    ['plain', 2],
    ['template', 1],
  ] as const) {
    const blob = encryptValue(dataKey, 7, place, '${A}', format)
    expect([formatOf(blob), decryptValue(dataKey, place, blob)]).toEqual([format, '${A}'])
    blob[0] = other
    expect(formatOf(blob)).not.toBe(format)
    expect(() => decryptValue(dataKey, place, blob)).toThrow(DecryptionError)
  }
})

test('refuses truncated tags', () => {
  const context = Buffer.from('context')
  const encrypted = encrypt(dataKey, Buffer.from('text'), context)
  expect(decrypt(dataKey, encrypted, context).toString()).toBe('text')
  for (const cut of [1, 4, 8, 12, encrypted.length])
    expect(() => decrypt(dataKey, encrypted.subarray(0, encrypted.length - cut), context)).toThrow(DecryptionError)
})

test('accepts missing keys only if they are unused', () => {
  const known = { id: 'gone', fingerprint: '0123456789abcdef', used: false, retired: false }
  assertMatches(keyring, [known])
  expect(() => assertMatches(keyring, [{ ...known, used: true }])).toThrow(/key gone \(fingerprint 0123456789abcdef\)/)
  const differs = { ...known, id: 'k2' }
  expect(() => assertMatches(keyring, [differs, { ...known, used: true }])).toThrow(
    new RegExp(`k2 differs.*0123456789abcdef.*${String(keyring.keys.get('k2')?.fingerprint)}.*key gone`),
  )
  const own = { id: 'k1', fingerprint: String(keyring.keys.get('k1')?.fingerprint), used: true, retired: true }
  expect(() => assertMatches(keyring, [own])).toThrow('k1 is retired')
})
