import { describe, expect, test } from '@jest/globals'
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
import { createRandom, FUZZ_SEED, type Random } from './support/random.ts'
import { encodeFixture, hybridFixture, multiFile, singleFile } from './support/torrents.ts'

const ROUNDS = 4000

/** Changes, inserts, removes or repeats a few bytes. */
function mutate(random: Random, original: Uint8Array, interesting: string): Buffer {
  let bytes = Buffer.from(original)
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    const at = random.below(bytes.length + 1)
    const character = Buffer.from(interesting.charAt(random.below(interesting.length)), 'latin1')
    const piece = random.pick([character, random.bytes(1 + random.below(3)), bytes.subarray(at, at + random.below(60))])
    const removed = random.pick([0, 0, 1, random.below(40)])
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + removed)])
  }
  return bytes
}

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

describe(`with any input (FUZZ_SEED=${FUZZ_SEED})`, () => {
  const random = createRandom(FUZZ_SEED)

  test('an announce is a request within its ranges or a failure of the table', () => {
    const seeds = [
      announceQuery(),
      announceQuery({ passkey: PASSKEY, event: 'started', key: '%31', numwant: '-1', compact: '0', ip: '192.0.2.1' }),
      announceQuery({ left: '18446744073709551615', trackerid: 'x', no_peer_id: '1', ipv4: '1', ipv6: '%5b' }),
    ] as const
    let accepted = 0
    for (let i = 0; i < ROUNDS; i++) {
      const query = mutate(random, Buffer.from(random.pick(seeds)), '&=?%+-09af\0').toString('latin1')
      const result = parseAnnounceQuery(query)
      if (result.ok) {
        accepted += 1
        const { infoHash, peerId, port, uploaded, downloaded, left, numwant, passkey } = result.request
        for (const id of [infoHash, peerId, passkey ?? PASSKEY]) expect(id).toMatch(/^[0-9a-f]{40}$/)
        for (const count of [uploaded, downloaded, left]) {
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
        }
        expect(Number.isInteger(port) && port >= 0 && port <= 65535).toBe(true)
        expect(Number.isInteger(numwant) && numwant >= 0 && numwant <= 100).toBe(true)
      } else {
        expect(FAILURES).toHaveProperty(result.failure)
      }
    }
    // Otherwise the mutations are so rough that only the refusals are tested.
    expect(accepted).toBeGreaterThan(ROUNDS / 50)
    expect(accepted).toBeLessThan(ROUNDS)
  })

  test('an announce of random ids, however escaped, is read as those bytes', () => {
    for (let i = 0; i < ROUNDS; i++) {
      const [infoHash, peerId] = [random.bytes(20), random.bytes(20)]
      const escapeSome = (bytes: Buffer): string =>
        Array.from(bytes, (byte) => {
          const text = String.fromCharCode(byte)
          if (/^[\x21-\x7e]$/.test(text) && !'%&'.includes(text) && random.below(2) === 0) return text
          const escaped = escapeAll(Buffer.from([byte]))
          return random.below(2) === 0 ? escaped : escaped.toUpperCase()
        }).join('')
      const query = announceQuery({ info_hash: escapeSome(infoHash), peer_id: escapeSome(peerId) })
      expect(parseAnnounceQuery(query)).toMatchObject({
        request: { infoHash: infoHash.toString('hex'), peerId: peerId.toString('hex') },
      })
    }
  })

  test('a scrape is a request or a failure of the table', () => {
    for (let i = 0; i < ROUNDS; i++) {
      const [first, second] = [escapeAll(random.bytes(20)), escapeAll(random.bytes(20))]
      const seed = `info_hash=${first}&passkey=${PASSKEY}&info_hash=${second}`
      const result = parseScrapeQuery(mutate(random, Buffer.from(seed), '&=?%').toString('latin1'))
      if (result.ok) for (const id of result.request.infoHashes) expect(id).toMatch(/^[0-9a-f]{40}$/)
      else expect(FAILURES).toHaveProperty(result.failure)
    }
  })

  test('a target has one of three outcomes', () => {
    const seeds = [`/announce?passkey=${PASSKEY}`, `/${PASSKEY}/scrape?x=1`, `/announce/${PASSKEY}`] as const
    for (let i = 0; i < ROUNDS; i++) {
      const target = parseTrackerTarget(mutate(random, Buffer.from(random.pick(seeds)), '/?&=').toString('latin1'))
      if (target?.ok) expect(target.passkey ?? PASSKEY).toMatch(/^[0-9a-f]{40}$/)
      else expect(target?.failure ?? 'invalid_passkey').toBe('invalid_passkey')
    }
  })

  test('text is an address of 4 or 16 bytes or none', () => {
    const seeds = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1:0:0:1'] as const
    for (let i = 0; i < ROUNDS; i++) {
      const address = addressFromText(mutate(random, Buffer.from(random.pick(seeds)), '.:0f%').toString('latin1'))
      expect([undefined, 4, 16]).toContain(address?.length)
      if (address !== undefined) expect(typeof isPrivateAddress(address)).toBe('boolean')
    }
  })

  test('bencode is a value, which encodes to the same bytes, or a BencodeError', () => {
    const seed = encodeBencode({ a: [1, -2, 'text', { b: Buffer.from([0, 255]), c: [] }], 'd e': 2 ** 40, f: {} })
    for (let i = 0; i < ROUNDS; i++) {
      const bytes = mutate(random, seed, 'ilde:0123456789-')
      onlyThrows(BencodeError, () => {
        const value = decodeBencode(bytes)
        expect(encodeBencode(toInput(value)).equals(bytes)).toBe(true)
      })
      onlyThrows(BencodeError, () => decodeBencode(random.bytes(random.below(64))))
    }
  })

  test('a torrent file is a torrent or a TorrentError', () => {
    const seeds = [
      singleFile({ private: 1 }),
      multiFile([{ length: 1, path: ['a'] }], 1),
      encodeFixture(hybridFixture()),
    ] as const
    for (let i = 0; i < ROUNDS / 4; i++) {
      const bytes = mutate(random, random.pick(seeds), 'ilde:0123456789-./')
      onlyThrows(TorrentError, () => parseTorrent(bytes))
      onlyThrows(TorrentError, () => prepareUpload(bytes, { source: 'S', requireSortedKeys: false }))
    }
  })
})
