import { describe, expect, test } from '@jest/globals'
import {
  idToBinaryString,
  idToBytes,
  infoHashFromBinaryString,
  infoHashFromBytes,
  infoHashFromQuery,
  parseInfoHash,
  parsePasskey,
  parsePeerId,
  peerIdFromBinaryString,
  peerIdFromBytes,
  peerIdFromQuery,
} from '../src/index.ts'
import { escapeAll, INFO_HASH, PASSKEY } from './support/query.ts'

const HEX = INFO_HASH.toString('hex')

describe('percent-decoding', () => {
  test('gives back each of the 256 bytes, escaped in either case', () => {
    for (let byte = 0; byte < 256; byte++) {
      const id = Buffer.alloc(20, byte)
      expect(infoHashFromQuery(escapeAll(id))).toBe(id.toString('hex'))
      expect(infoHashFromQuery(escapeAll(id).toUpperCase())).toBe(id.toString('hex'))
    }
  })

  test('takes the printable ASCII bytes bare and no other', () => {
    for (let byte = 0; byte < 256; byte++) {
      const bare = String.fromCharCode(byte).repeat(20)
      const accepted = byte >= 0x21 && byte <= 0x7e && byte !== 0x25
      expect(infoHashFromQuery(bare)).toBe(accepted ? Buffer.from(bare, 'latin1').toString('hex') : undefined)
    }
  })

  test('never reads escapes as UTF-8', () => {
    expect(infoHashFromQuery('%C3%A9'.repeat(10))).toBe('c3a9'.repeat(10))
  })

  test('refuses an escape with any character that is no hex digit', () => {
    const rest = 'a'.repeat(19)
    for (let code = 0; code < 256; code++) {
      const character = String.fromCharCode(code)
      const isHex = '0123456789abcdefABCDEF'.includes(character)
      expect(peerIdFromQuery(`%${character}0${rest}`) !== undefined).toBe(isHex)
      expect(peerIdFromQuery(`%0${character}${rest}`) !== undefined).toBe(isHex)
    }
  })

  test('refuses more than 60 characters, however many bytes they are', () => {
    expect(infoHashFromQuery('%00'.repeat(21))).toBeUndefined()
    expect(infoHashFromQuery('a'.repeat(20_000))).toBeUndefined()
  })
})

describe('ids', () => {
  const text = INFO_HASH.toString('latin1')
  test.each([
    ['parseInfoHash', () => parseInfoHash(HEX.toUpperCase())],
    ['infoHashFromBytes', () => infoHashFromBytes(INFO_HASH)],
    ['infoHashFromBinaryString', () => infoHashFromBinaryString(text)],
    ['infoHashFromQuery', () => infoHashFromQuery(escapeAll(INFO_HASH))],
    ['parsePeerId', () => parsePeerId(HEX.toUpperCase())],
    ['peerIdFromBytes', () => peerIdFromBytes(INFO_HASH)],
    ['peerIdFromBinaryString', () => peerIdFromBinaryString(text)],
    ['peerIdFromQuery', () => peerIdFromQuery(escapeAll(INFO_HASH))],
  ])('%s gives 40 lower-case hex digits', (_name, read) => {
    expect(read()).toBe(HEX)
  })

  test('are read from a view by its own bytes alone', () => {
    const larger = Buffer.concat([Buffer.alloc(3), INFO_HASH, Buffer.alloc(3)])
    expect(infoHashFromBytes(larger.subarray(3, 23))).toBe(HEX)
  })

  test('go back to bytes and to the characters of WebTorrent', () => {
    const id = parseInfoHash(HEX)
    expect(id && idToBytes(id).equals(INFO_HASH)).toBe(true)
    expect(id && idToBinaryString(id)).toBe(INFO_HASH.toString('latin1'))
  })

  test('of another length are refused', () => {
    expect(parseInfoHash(HEX.slice(1))).toBeUndefined()
    expect(parseInfoHash(`${HEX}0`)).toBeUndefined()
    expect(parsePeerId('')).toBeUndefined()
    expect(infoHashFromBytes(INFO_HASH.subarray(1))).toBeUndefined()
    expect(peerIdFromBytes(Buffer.alloc(21))).toBeUndefined()
    expect(infoHashFromBinaryString('a'.repeat(19))).toBeUndefined()
    expect(peerIdFromBinaryString('a'.repeat(21))).toBeUndefined()
  })

  test('with a character that is no hex digit are refused', () => {
    expect(parseInfoHash(`${HEX.slice(1)}g`)).toBeUndefined()
    expect(parsePeerId(`${HEX.slice(1)} `)).toBeUndefined()
    expect(parseInfoHash(`${HEX.slice(1)}\n`)).toBeUndefined()
    expect(parseInfoHash(`${HEX}\n`)).toBeUndefined()
  })

  test('with a character beyond U+00FF are refused', () => {
    expect(infoHashFromBinaryString(`${'a'.repeat(19)}\u0161`)).toBeUndefined()
    expect(peerIdFromBinaryString(`\u0100${'a'.repeat(19)}`)).toBeUndefined()
  })
})

describe('a passkey', () => {
  test('is 40 hex digits, kept in lower case', () => {
    expect(parsePasskey(PASSKEY)).toBe(PASSKEY)
    expect(parsePasskey(PASSKEY.toUpperCase())).toBe(PASSKEY)
  })

  test.each(['', PASSKEY.slice(1), `${PASSKEY}0`, `${PASSKEY.slice(1)}g`, `${PASSKEY.slice(1)}\n`, `${PASSKEY}\n`])(
    'is not %j',
    (text) => {
      expect(parsePasskey(text)).toBeUndefined()
    },
  )
})
