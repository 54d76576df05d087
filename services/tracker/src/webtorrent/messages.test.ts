import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { announceReply, cutDescriptions, quote, readMessage } from './messages.ts'

const read = (bytes: string): unknown => JSON.parse(Buffer.from(bytes, 'latin1').toString())
const intervals = { interval: 125, minInterval: 60 }

test('a reply to an announce contains the minimum interval under both names', () => {
  const counts = { complete: 1, incomplete: 2, downloaded: 3 }
  const members = {
    action: 'announce',
    info_hash: '\u0000"\\é',
    ...counts,
    interval: 125,
    'min interval': 60,
    min_interval: 60,
  }
  expect(read(announceReply(members.info_hash, counts, intervals))).toEqual(members)
  expect(read(announceReply(members.info_hash, counts, { ...intervals, warning: 'Wait "here"' }))).toEqual({
    ...members,
    'warning message': 'Wait "here"',
  })
})

test('quotes a string as JSON in UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(Buffer.from(quote(text), 'latin1').toString()).toBe(JSON.stringify(text))
    }),
  )
})

/** Restores extracted session descriptions, as the relay does. */
function restored(message: string): string {
  const descriptions: string[] = []
  const json = cutDescriptions(message, descriptions)
  return json.replace(/"sdp"\s*:\s*"(\d+)"/g, (_, index: string) => `"sdp":"${descriptions[Number(index)] ?? ''}"`)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('extracts descriptions verbatim and in order', () => {
  const message = String.raw`{"offers":[{"offer":{"sdp":"v=0\r\n\"é"}},{"offer":{"sdp" : "😀"}}],"x":1}`
  const descriptions: string[] = []
  expect(cutDescriptions(message, descriptions)).toBe(
    '{"offers":[{"offer":{"sdp":"0"}},{"offer":{"sdp" : "1"}}],"x":1}',
  )
  expect(descriptions).toEqual([String.raw`v=0\r\n\"é`, '😀'])
})

test('leaves a message without a description unchanged', () => {
  for (const message of ['', '{"sdp":5}', '{"sdp":"a', String.raw`{"sdp":"\x"}`, '{"sdp":"a\nb"}']) {
    const descriptions: string[] = []
    expect(cutDescriptions(message, descriptions)).toBe(message)
    expect(descriptions).toEqual([])
  }
})

test('loses no part of any JSON', () => {
  const key = fc.oneof(fc.constant('sdp'), fc.constant('x"sdp'), fc.constant('sdp\\'), fc.string())
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.string({ unit: 'binary' }), fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(value, (sent) => {
      const message = JSON.stringify(sent)
      expect(isJson(cutDescriptions(message, []))).toBe(true)
      expect(JSON.parse(restored(message))).toEqual(JSON.parse(message))
    }),
    { numRuns: 500 },
  )
})

test('extraction never changes whether a text is JSON', () => {
  const piece = fc.constantFrom('"sdp"', ':', '"', '\\', '{', '}', ',', '"x"', ' ', '\n', 'sdp', 'u0041', '[', ']', '1')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const message = pieces.join('')
      expect(isJson(cutDescriptions(message, []))).toBe(isJson(message))
    }),
    { numRuns: 5_000 },
  )
})

test('a session description cannot refer to another one by its index', () => {
  const offer = { offer_id: 'o'.repeat(20) }
  const message = { action: 'announce', info_hash: 'i'.repeat(20), peer_id: 'p'.repeat(20) }
  for (const sdp of [0, '0', null, ['0']]) {
    const offers = [
      { ...offer, offer: { type: 'offer', sdp } },
      { ...offer, offer: { type: 'offer', sdp: 'text' } },
    ]
    const read = readMessage(Buffer.from(JSON.stringify({ ...message, offers })))
    if (sdp === '0') expect(read).toMatchObject({ offers: [{ sdp: '0' }, { sdp: 'text' }] })
    else expect(read).toMatchObject({ kind: 'malformed', failure: 'invalid_offers' })
  }
})
