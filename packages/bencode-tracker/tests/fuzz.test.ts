import { describe, expect, test } from '@jest/globals'
import { damaged } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import {
  addressFromText,
  FAILURES,
  isPrivateAddress,
  parseAnnounceQuery,
  parseScrapeQuery,
  parseTrackerTarget,
  prepareUpload,
  TorrentError,
} from '../src/index.ts'
import {
  BencodeError,
  type BencodeInput,
  type BencodeValue,
  decodeBencode,
  encodeBencode,
  parseTorrent,
} from '../src/testing.ts'
import { announceQuery, escapeAll, PASSKEY } from './support/query.ts'
import { bytes, RUNS } from './support/random.ts'
import { encodeFixture, hybridFixture, multiFile, singleFile } from './support/torrents.ts'

/** Bytes that are damaged by inserting the characters with a meaning. */
const damagedBytes = (seeds: readonly Uint8Array[], interesting: string): fc.Arbitrary<Buffer> =>
  damagedTexts(
    seeds.map((seed) => Buffer.from(seed).toString('latin1')),
    interesting,
  ).map((text) => Buffer.from(text, 'latin1'))

const damagedTexts = (seeds: readonly string[], interesting: string): fc.Arbitrary<string> =>
  damaged(fc.constantFrom(...seeds), interesting.split(''))

function toInput(value: BencodeValue): BencodeInput {
  switch (value.kind) {
    case 'integer':
    case 'bytes':
      return value.value
    case 'list':
      return value.items.map(toInput)
    case 'dict':
      return new Map([...value.entries].map(([key, item]) => [key, toInput(item)]))
  }
}

function onlyThrows(errorType: typeof BencodeError | typeof TorrentError, run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof errorType)) throw error
  }
}

const sha1 = bytes(20)

describe(`with any input (FUZZ_SEED=${RUNS.seed})`, () => {
  test('an announce is a request within its ranges or a failure of the table', () => {
    const seeds = [
      announceQuery(),
      announceQuery({ passkey: PASSKEY, event: 'started', key: '%31', numwant: '-1', compact: '0', ip: '192.0.2.1' }),
      announceQuery({ left: '18446744073709551615', trackerid: 'x', no_peer_id: '1', ipv4: '1', ipv6: '%5b' }),
    ]
    let accepted = 0
    fc.assert(
      fc.property(damagedTexts(seeds, '&=?%+-09af\0'), (query) => {
        const result = parseAnnounceQuery(query)
        if (!result.ok) {
          expect(FAILURES).toHaveProperty(result.failure)
          return
        }
        accepted += 1
        const { infoHash, peerId, port, uploaded, downloaded, left, numwant, passkey } = result.request
        for (const id of [infoHash, peerId, passkey ?? PASSKEY]) expect(id).toMatch(/^[0-9a-f]{40}$/)
        for (const count of [uploaded, downloaded, left]) {
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
        }
        expect(Number.isInteger(port) && port >= 0 && port <= 65535).toBe(true)
        expect(Number.isInteger(numwant) && numwant >= 0 && numwant <= 100).toBe(true)
      }),
      RUNS,
    )
    // Otherwise the mutations are so rough that only the refusals are tested.
    expect(accepted).toBeGreaterThan(RUNS.numRuns / 50)
    expect(accepted).toBeLessThan(RUNS.numRuns)
  })

  test('an announce of random ids, however escaped, is read as those bytes', () => {
    /** Twenty bytes, the bits of those that are escaped in any case, and whether in upper case. */
    const ids = fc.tuple(sha1, fc.nat(2 ** 20 - 1), fc.boolean())
    const escapeSome = ([id, escapes, isUpper]: readonly [Buffer, number, boolean]): string =>
      Array.from(id, (byte, i) => {
        const text = String.fromCharCode(byte)
        if (/^[\x21-\x7e]$/.test(text) && !'%&'.includes(text) && ((escapes >> i) & 1) === 0) return text
        const escaped = escapeAll(Buffer.from([byte]))
        return isUpper ? escaped.toUpperCase() : escaped
      }).join('')
    fc.assert(
      fc.property(ids, ids, (infoHash, peerId) => {
        const query = announceQuery({ info_hash: escapeSome(infoHash), peer_id: escapeSome(peerId) })
        expect(parseAnnounceQuery(query)).toMatchObject({
          request: { infoHash: infoHash[0].toString('hex'), peerId: peerId[0].toString('hex') },
        })
      }),
      RUNS,
    )
  })

  test('a scrape is a request or a failure of the table', () => {
    const seeds = fc
      .tuple(sha1, sha1)
      .map(([a, b]) => `info_hash=${escapeAll(a)}&passkey=${PASSKEY}&info_hash=${escapeAll(b)}`)
    fc.assert(
      fc.property(damaged(seeds, '&=?%'.split('')), (query) => {
        const result = parseScrapeQuery(query)
        if (result.ok) for (const id of result.request.infoHashes) expect(id).toMatch(/^[0-9a-f]{40}$/)
        else expect(FAILURES).toHaveProperty(result.failure)
      }),
      RUNS,
    )
  })

  test('a target has one of three outcomes', () => {
    const seeds = [`/announce?passkey=${PASSKEY}`, `/${PASSKEY}/scrape?x=1`, `/announce/${PASSKEY}`]
    fc.assert(
      fc.property(damagedTexts(seeds, '/?&='), (text) => {
        const target = parseTrackerTarget(text)
        if (target?.ok) expect(target.passkey ?? PASSKEY).toMatch(/^[0-9a-f]{40}$/)
        else expect(target?.failure ?? 'invalid_passkey').toBe('invalid_passkey')
      }),
      RUNS,
    )
  })

  test('text is an address of 4 or 16 bytes or none', () => {
    const seeds = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1:0:0:1']
    fc.assert(
      fc.property(damagedTexts(seeds, '.:0f%'), (text) => {
        const address = addressFromText(text)
        expect([undefined, 4, 16]).toContain(address?.length)
        if (address !== undefined) expect(typeof isPrivateAddress(address)).toBe('boolean')
      }),
      RUNS,
    )
  })

  test('bencode is a value, which encodes to the same bytes, or a BencodeError', () => {
    const seed = encodeBencode({ a: [1, -2, 'text', { b: Buffer.from([0, 255]), c: [] }], 'd e': 2 ** 40, f: {} })
    fc.assert(
      fc.property(fc.oneof(damagedBytes([seed], 'ilde:0123456789-'), bytes(0, 63)), (input) => {
        onlyThrows(BencodeError, () => expect(encodeBencode(toInput(decodeBencode(input))).equals(input)).toBe(true))
      }),
      { ...RUNS, numRuns: 2 * RUNS.numRuns },
    )
  })

  test('a torrent file is a torrent or a TorrentError', () => {
    const seeds = [
      singleFile({ private: 1 }),
      multiFile([{ length: 1, path: ['a'] }], 1),
      encodeFixture(hybridFixture()),
    ]
    fc.assert(
      fc.property(damagedBytes(seeds, 'ilde:0123456789-./'), (file) => {
        onlyThrows(TorrentError, () => parseTorrent(file))
        onlyThrows(TorrentError, () => prepareUpload(file, { source: 'S', requireSortedKeys: false }))
      }),
      { ...RUNS, numRuns: RUNS.numRuns / 4 },
    )
  })
})
