import { describe, expect, test } from '@jest/globals'
import { infoHashFromBytes, parseInfoHash, parsePasskey, parsePeerId } from '../src/index.ts'
import { asciiBytes, percentTo20BytesHex } from '../src/query.ts'
import { escapeAll, INFO_HASH, PASSKEY } from './support/query.ts'

const HEX = INFO_HASH.toString('hex')

/** 20 percent-encoded bytes in hex, undefined for anything else. */
function decodeQuery(encoded: string): string | undefined {
  const bytes = asciiBytes(encoded)
  return bytes === undefined ? undefined : percentTo20BytesHex(bytes, 0, encoded.length) || undefined
}

describe('percent-decoding', () => {
  test('decodes each of the 256 bytes, escaped in either case', () => {
    for (let byte = 0; byte < 256; byte++) {
      const id = Buffer.alloc(20, byte)
      expect(decodeQuery(escapeAll(id))).toBe(id.toString('hex'))
      expect(decodeQuery(escapeAll(id).toUpperCase())).toBe(id.toString('hex'))
    }
  })

  test('accepts only printable ASCII unescaped', () => {
    for (let byte = 0; byte < 256; byte++) {
      const bare = String.fromCharCode(byte).repeat(20)
      const accepted = byte >= 0x21 && byte <= 0x7e && byte !== 0x25
      expect(decodeQuery(bare)).toBe(accepted ? Buffer.from(bare, 'latin1').toString('hex') : undefined)
    }
  })

  test('never reads escapes as UTF-8', () => {
    expect(decodeQuery('%C3%A9'.repeat(10))).toBe('c3a9'.repeat(10))
  })

  test('refuses an escape with a character other than a hex digit', () => {
    const rest = 'a'.repeat(19)
    for (let code = 0; code < 256; code++) {
      const character = String.fromCharCode(code)
      const isHex = '0123456789abcdefABCDEF'.includes(character)
      expect(decodeQuery(`%${character}0${rest}`) !== undefined).toBe(isHex)
      expect(decodeQuery(`%0${character}${rest}`) !== undefined).toBe(isHex)
    }
  })

  test('refuses more than 20 bytes, however many they are', () => {
    expect(decodeQuery('%00'.repeat(21))).toBeUndefined()
    expect(decodeQuery('a'.repeat(20_000))).toBeUndefined()
  })
})

describe('ids', () => {
  test.each([
    ['parseInfoHash', () => parseInfoHash(HEX.toUpperCase())],
    ['infoHashFromBytes', () => infoHashFromBytes(INFO_HASH)],
    ['parsePeerId', () => parsePeerId(HEX.toUpperCase())],
  ])('%s gives 40 lower-case hex digits', (_name, read) => {
    expect(read()).toBe(HEX)
  })

  test('are read only from the bytes of a view', () => {
    const larger = Buffer.concat([Buffer.alloc(3), INFO_HASH, Buffer.alloc(3)])
    expect(infoHashFromBytes(larger.subarray(3, 23))).toBe(HEX)
  })

  test('of another length are refused', () => {
    expect(parseInfoHash(HEX.slice(1))).toBeUndefined()
    expect(parseInfoHash(`${HEX}0`)).toBeUndefined()
    expect(parsePeerId('')).toBeUndefined()
    expect(infoHashFromBytes(INFO_HASH.subarray(1))).toBeUndefined()
    expect(infoHashFromBytes(Buffer.alloc(21))).toBeUndefined()
  })

  test('with a character other than a hex digit are refused', () => {
    expect(parseInfoHash(`${HEX.slice(1)}g`)).toBeUndefined()
    expect(parsePeerId(`${HEX.slice(1)} `)).toBeUndefined()
    expect(parseInfoHash(`${HEX.slice(1)}\n`)).toBeUndefined()
    expect(parseInfoHash(`${HEX}\n`)).toBeUndefined()
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
