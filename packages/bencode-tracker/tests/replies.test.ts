import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import fc from 'fast-check'
import {
  type AnnounceReply,
  addressFromText,
  announceListReply,
  announceReply,
  FAILURES,
  type FailureName,
  failureReply,
  type ListedPeer,
  parsePeerId,
  WARNINGS,
} from '../src/index.ts'
import { BencodeError, decodeBencode } from '../src/testing.ts'
import { bytes, RUNS } from './support/random.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

function address(of: string): Uint8Array {
  const bytes = addressFromText(of)
  if (bytes === undefined) throw new TypeError(`not an address: ${of}`)
  return bytes
}

function peer(ip: string, port: number): ListedPeer {
  const peerId = parsePeerId(Buffer.from('-TR3000-\u0000\u00ffabcdefghij', 'latin1').toString('hex'))
  if (peerId === undefined) throw new TypeError('not a peer id')
  return { address: address(ip), port, peerId }
}

const fields = { complete: 1, downloaded: 22, incomplete: 333, interval: 1800, minInterval: 900 }
const compact: AnnounceReply = { ...fields, peers: Buffer.from('abcdef'), peers6: Buffer.alloc(0) }
const START = 'd8:completei1e10:downloadedi22e10:incompletei333e8:intervali1800e12:min intervali900e'

describe('announceReply has these bytes', () => {
  test('with the required keys', () => {
    expect(text(announceReply(compact))).toBe(`${START}5:peers6:abcdef6:peers60:e`)
  })

  test('with no peers at all', () => {
    expect(text(announceReply({ ...compact, peers: Buffer.alloc(0) }))).toBe(`${START}5:peers0:6:peers60:e`)
  })

  test('with everything', () => {
    const reply: AnnounceReply = {
      ...compact,
      externalIp: Buffer.from([255, 0, 128, 1]),
      peers6: Buffer.alloc(18, 0xfe),
      trackerId: 'id\u00ff',
      warning: 'Slöw',
    }
    expect(text(announceReply(reply))).toBe(
      'd8:completei1e10:downloadedi22e11:external ip4:\xff\x00\x80\x0110:incompletei333e8:intervali1800e' +
        `12:min intervali900e5:peers6:abcdef6:peers618:${'\xfe'.repeat(18)}10:tracker id3:id\xff` +
        '15:warning message5:Sl\xc3\xb6we',
    )
  })

  test('with an external address of 16 bytes', () => {
    const reply = { ...compact, externalIp: Buffer.alloc(16, 0x61) }
    expect(text(announceReply(reply))).toContain(`11:external ip16:${'a'.repeat(16)}10:incomplete`)
  })

  test('with numbers of every length', () => {
    for (let digits = 1; digits <= 15; digits++) {
      for (const value of [10 ** digits - 1, 10 ** digits]) {
        expect(text(announceReply({ ...compact, complete: value }))).toContain(`8:completei${value}e10:`)
      }
    }
    expect(text(announceReply({ ...compact, complete: 0, downloaded: Number.MAX_SAFE_INTEGER }))).toContain(
      'd8:completei0e10:downloadedi9007199254740991e',
    )
  })
})

describe('announceListReply has these bytes', () => {
  const peers = [peer('192.0.2.1', 6881), peer('2001:db8::1', 1)]

  test('with peer ids', () => {
    expect(text(announceListReply({ ...fields, peers, noPeerId: false }))).toBe(
      `${START}5:peersl` +
        'd2:ip9:192.0.2.17:peer id20:-TR3000-\x00\xffabcdefghij4:porti6881ee' +
        'd2:ip11:2001:db8::17:peer id20:-TR3000-\x00\xffabcdefghij4:porti1ee' +
        'ee',
    )
  })

  test('without peer ids', () => {
    expect(text(announceListReply({ ...fields, peers, noPeerId: true }))).toBe(
      `${START}5:peersld2:ip9:192.0.2.14:porti6881eed2:ip11:2001:db8::14:porti1eeee`,
    )
  })

  test('without peers, with everything else', () => {
    const reply = {
      ...fields,
      peers: [],
      noPeerId: false,
      externalIp: Buffer.from('abcd'),
      trackerId: 't',
      warning: 'w',
    }
    expect(text(announceListReply(reply))).toBe(
      'd8:completei1e10:downloadedi22e11:external ip4:abcd10:incompletei333e8:intervali1800e' +
        '12:min intervali900e5:peersle10:tracker id1:t15:warning message1:we',
    )
  })
})

describe('every reply', () => {
  test(`of random content is canonical and read by the npm implementation (FUZZ_SEED=${RUNS.seed})`, () => {
    const count = fc.oneof(fc.nat(100), fc.nat())
    const peersOf = (size: number): fc.Arbitrary<Buffer> =>
      fc.tuple(fc.nat(100), bytes(1, 40)).map(([peers, pattern]) => Buffer.alloc(size * peers, pattern))
    const replies: fc.Arbitrary<AnnounceReply> = fc.record({
      complete: count,
      downloaded: count,
      incomplete: count,
      interval: fc.nat(4000),
      minInterval: fc.nat(4000),
      externalIp: fc.oneof(fc.constant(undefined), bytes(4), bytes(16)),
      peers: peersOf(6),
      peers6: peersOf(18),
      trackerId: fc.option(
        bytes(0, 127).map((id) => id.toString('latin1')),
        { nil: undefined },
      ),
      warning: fc.constantFrom(undefined, 'x', WARNINGS.pending_moderation.message, 'Ж'.repeat(300)),
    })
    fc.assert(
      fc.property(replies, (reply) => {
        const written = announceReply(reply)
        expect(decodeBencode(written).end).toBe(written.length)
        expect(npmBencode.decode(written)).toMatchObject({
          complete: reply.complete,
          downloaded: reply.downloaded,
          incomplete: reply.incomplete,
          interval: reply.interval,
          'min interval': reply.minInterval,
          peers: new Uint8Array(reply.peers),
          peers6: new Uint8Array(reply.peers6),
        })
      }),
      { ...RUNS, numRuns: RUNS.numRuns / 8 },
    )
  })

  test.each(['complete', 'downloaded', 'incomplete', 'interval', 'minInterval'])('refuses a bad %s', (field) => {
    for (const value of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => announceReply({ ...compact, [field]: value })).toThrow(BencodeError)
      expect(() => announceListReply({ ...fields, peers: [], noPeerId: true, [field]: value })).toThrow(BencodeError)
    }
  })

  test('refuses a bad port in a list', () => {
    expect(() => announceListReply({ ...fields, peers: [peer('192.0.2.1', 0.5)], noPeerId: true })).toThrow(
      BencodeError,
    )
  })
})

describe('failureReply', () => {
  const times = { interval: 1800, minInterval: 900 }
  const names = Object.keys(FAILURES).filter((name): name is FailureName => name in FAILURES)

  test('has these bytes', () => {
    expect(text(failureReply('unregistered_torrent', times))).toBe(
      'd14:failure reason20:Unregistered torrent8:intervali1800e12:min intervali900e8:retry ini60ee',
    )
    expect(text(failureReply('account_banned', times))).toBe(
      'd14:failure reason22:Your account is banned8:intervali1800e12:min intervali900e8:retry in5:nevere',
    )
  })

  test.each(names)('of %s is canonical and has all four keys', (name) => {
    const { reason, retryIn } = FAILURES[name]
    expect(npmBencode.decode(failureReply(name, times))).toEqual({
      'failure reason': new Uint8Array(Buffer.from(reason)),
      interval: 1800,
      'min interval': 900,
      'retry in': retryIn === 'never' ? new Uint8Array(Buffer.from('never')) : retryIn,
    })
    expect(decodeBencode(failureReply(name, times)).kind).toBe('dict')
  })

  test('takes another time to retry', () => {
    expect(text(failureReply('announce_limit', { ...times, retryIn: 7 }))).toContain('8:retry ini7ee')
    expect(text(failureReply('announce_limit', { ...times, retryIn: 'never' }))).toContain('8:retry in5:nevere')
  })

  test('appends a detail in UTF-8, without control characters and at most 200 characters long', () => {
    expect(text(failureReply('deleted_torrent', { ...times, detail: 'Düpe' }))).toContain(
      '14:failure reason27:Unregistered torrent: D\xc3\xbcpe8:',
    )
    expect(text(failureReply('deleted_torrent', { ...times, detail: ' a\r\n\x00b ' }))).toContain('torrent: a b8:')
    expect(text(failureReply('deleted_torrent', { ...times, detail: ' \n ' }))).toContain('20:Unregistered torrent8:')
    expect(text(failureReply('deleted_torrent', { ...times, detail: 'x'.repeat(999) }))).toContain(
      `222:Unregistered torrent: ${'x'.repeat(200)}8:`,
    )
  })

  test('refuses numbers that are not bencodable', () => {
    expect(() => failureReply('internal_error', { ...times, interval: 0.5 })).toThrow(BencodeError)
    expect(() => failureReply('internal_error', { ...times, minInterval: -1 })).toThrow(BencodeError)
    expect(() => failureReply('internal_error', { ...times, retryIn: 0.5 })).toThrow(BencodeError)
  })
})

describe('the tables of sentences', () => {
  test('have short printable sentences without a full stop, each once except for a deleted torrent', () => {
    const reasons = Object.entries(FAILURES)
      .filter(([name]) => name !== 'deleted_torrent')
      .map(([, { reason }]) => reason)
    const sentences = [...reasons, ...Object.values(WARNINGS).map(({ message }) => message)]
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][\x20-\x7e]{5,79}$/)
    expect(sentences.filter((sentence) => sentence.endsWith('.'))).toEqual([])
    expect(new Set(sentences).size).toBe(sentences.length)
  })

  test('use 429 for the announce limit only', () => {
    const departures = Object.entries(FAILURES).filter(([, { status }]) => status !== 200)
    expect(departures.map(([name]) => name)).toEqual(['announce_limit'])
  })

  test('call an unknown and a deleted torrent unregistered, the word that tools look for', () => {
    expect(FAILURES.unregistered_torrent.reason).toBe('Unregistered torrent')
    expect(FAILURES.deleted_torrent.reason).toBe('Unregistered torrent')
  })
})
