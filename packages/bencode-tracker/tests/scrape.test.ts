import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import { type InfoHash, parseInfoHash, parseScrapeQuery, type ScrapeFailure, scrapeReply } from '../src/index.ts'
import { BencodeError } from '../src/testing.ts'
import { escapeAll, PASSKEY } from './support/query.ts'

const hash = (byte: number): Buffer => Buffer.alloc(20, byte)
const parameter = (byte: number): string => `info_hash=${escapeAll(hash(byte))}`

function id(byte: number): InfoHash {
  const infoHash = parseInfoHash(hash(byte).toString('hex'))
  if (infoHash === undefined) throw new TypeError('not an info hash')
  return infoHash
}

function refusal(query: string): ScrapeFailure | undefined {
  const result = parseScrapeQuery(query)
  return result.ok ? undefined : result.failure
}

describe('parseScrapeQuery reads', () => {
  test('no info hash as an empty list', () => {
    expect(parseScrapeQuery('')).toEqual({ ok: true, request: { infoHashes: [], passkey: undefined } })
  })

  test('several info hashes in their order, each once', () => {
    const query = [2, 1, 255, 1].map(parameter).join('&')
    expect(parseScrapeQuery(query)).toMatchObject({ request: { infoHashes: [id(2), id(1), id(255)] } })
  })

  test('74 of them', () => {
    const query = Array.from({ length: 74 }, (_, i) => parameter(i)).join('&')
    const result = parseScrapeQuery(query)
    expect(result.ok && result.request.infoHashes.length).toBe(74)
  })

  test('the passkey, even before a second question mark', () => {
    const expected = { ok: true, request: { infoHashes: [id(1)], passkey: PASSKEY } }
    expect(parseScrapeQuery(`passkey=${PASSKEY}&${parameter(1)}`)).toEqual(expected)
    expect(parseScrapeQuery(`passkey=${PASSKEY}?${parameter(1)}`)).toEqual(expected)
  })

  test('nothing from parameters it does not know', () => {
    expect(parseScrapeQuery(`compact=1&x&${parameter(1)}&`)).toMatchObject({ request: { infoHashes: [id(1)] } })
  })
})

describe('parseScrapeQuery refuses', () => {
  test.each<[string, string, ScrapeFailure]>([
    ['a malformed info hash', 'info_hash=x', 'invalid_info_hash'],
    ['an info hash without a value sign', 'info_hash', 'invalid_info_hash'],
    [
      '75 info hashes, even of one torrent',
      Array.from({ length: 75 }, () => parameter(1)).join('&'),
      'too_many_info_hashes',
    ],
    ['a malformed passkey', 'passkey=x', 'invalid_passkey'],
    ['two passkeys', `passkey=${PASSKEY}&passkey=${PASSKEY}`, 'repeated_parameter'],
    ['a query of more than 10,240 characters', 'x'.repeat(10_241), 'query_too_long'],
    ['a query with a character beyond ASCII', 'x=é', 'invalid_query'],
  ])('%s', (_fact, query, failure) => {
    expect(refusal(query)).toBe(failure)
  })
})

describe('scrapeReply', () => {
  const counts = { complete: 1, downloaded: 2, downloaders: 3, incomplete: 4 }

  test('has these bytes', () => {
    const key = hash(1).toString('latin1')
    expect(scrapeReply([{ infoHash: id(1), ...counts }], 900).toString('latin1')).toBe(
      `d5:filesd20:${key}d8:completei1e10:downloadedi2e11:downloadersi3e10:incompletei4eee` +
        '5:flagsd20:min_request_intervali900eee',
    )
  })

  test('has files even when there are none', () => {
    expect(scrapeReply([], 900).toString()).toBe('d5:filesde5:flagsd20:min_request_intervali900eee')
  })

  test('sorts by raw info hash', () => {
    const torrents = [0xff, 0x00, 0x80, 0x0a].map((byte) => ({ infoHash: id(byte), ...counts }))
    const text = scrapeReply(torrents, 900).toString('latin1')
    const positions = [0x00, 0x0a, 0x80, 0xff].map((byte) => text.indexOf(`20:${hash(byte).toString('latin1')}`))
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
    expect(positions).not.toContain(-1)
  })

  test('names a torrent once', () => {
    const twice = [
      { infoHash: id(1), ...counts },
      { infoHash: id(1), ...counts, complete: 9 },
    ]
    expect(scrapeReply(twice, 900)).toEqual(scrapeReply(twice.slice(1), 900))
  })

  test('is read by the npm implementation', () => {
    expect(npmBencode.decode(scrapeReply([{ infoHash: id(0x61), ...counts }], 900))).toEqual({
      files: { ['a'.repeat(20)]: counts },
      flags: { min_request_interval: 900 },
    })
  })

  test.each(['complete', 'downloaded', 'downloaders', 'incomplete'])('refuses a fractional %s', (field) => {
    expect(() => scrapeReply([{ infoHash: id(1), ...counts, [field]: 1.5 }], 900)).toThrow(BencodeError)
  })

  test('refuses a fractional interval', () => {
    expect(() => scrapeReply([], 1.5)).toThrow(BencodeError)
  })
})
