import { isIP } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { addressFromText, addressToText, unmapAddress } from '../src/address/address.ts'
import { isPrivateAddress, isRefusedPort } from '../src/index.ts'
import { RUNS } from './support/random.ts'

function bytesOf(text: string): Uint8Array {
  const address = addressFromText(text)
  if (address === undefined) throw new TypeError(`not an address: ${text}`)
  return address
}

const hex = (text: string): string => Buffer.from(bytesOf(text)).toString('hex')

describe('addressFromText reads', () => {
  test.each([
    ['0.0.0.0', '00000000'],
    ['192.0.2.1', 'c0000201'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['1::', `0001${'0'.repeat(28)}`],
    ['2001:db8::1', '20010db8000000000000000000000001'],
    ['2001:DB8:0:0:0:0:0:1', '20010db8000000000000000000000001'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::2:3:4:5:6:7:8', '00000002000300040005000600070008'],
    ['64:ff9b::192.0.2.1', '0064ff9b0000000000000000c0000201'],
    ['::ffff:192.0.2.1', 'c0000201'],
    ['::FFFF:c000:201', 'c0000201'],
  ])('%s', (text, expected) => {
    expect(hex(text)).toBe(expected)
  })
})

describe('addressFromText refuses', () => {
  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.4 ',
    '1.2.3.-4',
    '1.2.3.a',
    '1.2.3.4:80',
    '0x7f.0.0.1',
    '2130706433',
    'localhost',
    ':',
    ':::',
    ':1',
    '1:',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '12345::',
    '::g',
    '::1.2.3',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '1:2:3:4:5:6:7:1.2.3.4',
    '[::1]',
    'fe80::1%eth0',
    '::1/128',
    `::${'0'.repeat(60)}1`,
  ])('%j', (text) => {
    expect(addressFromText(text)).toBeUndefined()
  })
})

describe('addressToText writes', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['0:0:3:4:5:6:7:8', '::3:4:5:6:7:8'],
  ])('%s as %s', (text, canonical) => {
    expect(addressToText(bytesOf(text))).toBe(canonical)
  })

  test('16 bytes of a mapped address with its dots', () => {
    const mapped = Buffer.from(`${'0'.repeat(20)}ffffc0000201`, 'hex')
    expect(addressToText(mapped)).toBe('::ffff:192.0.2.1')
    expect(addressToText(unmapAddress(mapped))).toBe('192.0.2.1')
  })

  test(`what is read back as the same bytes, and as an address by Node (FUZZ_SEED=${RUNS.seed})`, () => {
    // The canonical form differs only in groups of zeros.
    const byte = fc.oneof(fc.constant(0), fc.nat(255))
    const addresses = fc.constantFrom(4, 16).chain((length) => fc.array(byte, { minLength: length, maxLength: length }))
    fc.assert(
      fc.property(
        addresses.map((list) => Buffer.from(list)),
        (address) => {
          const text = addressToText(address)
          expect(isIP(text)).toBe(address.length === 4 ? 4 : 6)
          expect(Buffer.from(bytesOf(text)).equals(unmapAddress(address))).toBe(true)
        },
      ),
      RUNS,
    )
  })
})

describe('isPrivateAddress', () => {
  test.each([
    '0.0.0.0',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.0',
    '100.127.255.255',
    '127.0.0.1',
    '169.254.1.1',
    '172.16.0.0',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::10.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:a00:1::1',
    '100::1',
    '2001:db8::1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
  ])('is true for %s', (text) => {
    expect(isPrivateAddress(bytesOf(text))).toBe(true)
  })

  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2002:101:101::1',
    '2001:470::1',
    '2606:4700::1111',
    'fbff::1',
    'fe00::1',
  ])('is false for %s', (text) => {
    expect(isPrivateAddress(bytesOf(text))).toBe(false)
  })

  test('is true for 16 bytes of a mapped private address', () => {
    expect(isPrivateAddress(Buffer.from(`${'0'.repeat(20)}ffff0a000001`, 'hex'))).toBe(true)
  })

  test.each([0, 3, 5, 15, 17])('is true for %d bytes, which are not an address', (length) => {
    expect(isPrivateAddress(new Uint8Array(length).fill(8))).toBe(true)
  })
})

describe('isRefusedPort', () => {
  test.each([0, 1, 80, 1023, 1214, 3389, 4662, 6346, 6347, 6699, 8080, 8081])('is true for %d', (port) => {
    expect(isRefusedPort(port)).toBe(true)
  })

  test.each([1024, 1213, 1215, 6881, 8079, 8082, 51413, 65535])('is false for %d', (port) => {
    expect(isRefusedPort(port)).toBe(false)
  })
})
