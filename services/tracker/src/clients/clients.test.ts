import { describe, expect, test } from '@jest/globals'
import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import { type ClientCount, createClientCensus } from './client-census.ts'
import { clientName, peerIdFrom, readClient } from './client-id.ts'
import { type ClientRule, compileRules, parseRule, ruleText } from './client-rules.ts'

function idOf(text: string): PeerId {
  const peerId = peerIdFrom(text)
  if (peerId === undefined) throw new Error('not a peer id')
  return peerId
}

test.each([
  ['-qB5010-abcdefghijkl', 'qBittorrent 5.0.1', '-qB', [5, 0, 1, 0]],
  ['-qB46A0-abcdefghijkl', 'qBittorrent 4.6.10', '-qB', [4, 6, 10, 0]],
  ['-TR4060-abcdefghijkl', 'Transmission 4.0.6', '-TR', [4, 0, 6, 0]],
  ['-TR400Z-abcdefghijkl', 'Transmission 4.0.0.35', '-TR', [4, 0, 0, 35]],
  ['-DE13F0-abcdefghijkl', 'Deluge 1.3.15', '-DE', [1, 3, 15, 0]],
  ['-lt0D80-abcdefghijkl', 'rTorrent 0.13.8', '-lt', [0, 13, 8, 0]],
  ['-WW0201-abcdefghijkl', 'WebTorrent 0.2.0.1', '-WW', [0, 2, 0, 1]],
  ['-ZZ1234-abcdefghijkl', '-ZZ1234-', '-ZZ', [1, 2, 3, 4]],
  ['A2-1-37-0-abcdefghij', 'aria2 1.37.0', 'A2', [1, 37, 0]],
  ['M7-9-2--abcdefghijkl', 'BitTorrent 7.9.2', 'M', [7, 9, 2]],
  ['M4-20-8-abcdefghijkl', 'BitTorrent 4.20.8', 'M', [4, 20, 8]],
  ['T03A0----abcdefghijk', 'BitTornado 0.3.10', 'T', [0, 3, 10, 0]],
  ['T03A----abcdefghijkl', 'T03A----', 'T03A----', undefined],
  ['-qB501-abcdefghijklm', '-qB501-a', '-qB501-a', undefined],
  ['OP7685abcdefghijklmn', 'OP7685ab', 'OP7685ab', undefined],
  ['\u0001\u0002\u0003-------------ab', 'unknown', 'unknown', undefined],
])('the peer id %j is from %s', (text, name, prefix, version) => {
  const peerId = idOf(text)
  expect(clientName(peerId)).toBe(name)
  expect(readClient(peerId)).toMatchObject({ prefix, version })
})

describe('the count of clients', () => {
  /** A count of swarms that each have one peer of their own user. */
  function censusOf(swarms: number) {
    const written: (readonly ClientCount[])[] = []
    let now = 1_800_000_000_000
    const names = Array.from({ length: swarms }, (_, i) => Buffer.from(String(i).padStart(20, '0')))
    const census = createClientCensus({
      page: (cursor = '0') => {
        const end = Number(cursor) + 400
        return Promise.resolve({
          names: names.slice(Number(cursor), end),
          next: end < swarms ? String(end) : undefined,
        })
      },
      peers: {
        read: (name) => {
          const [owner, peerId] = [name.subarray(12), idOf('-qB5010-')]
          const transfer = { uploaded: 0, downloaded: 0, lastAnnounce: 0, endpoints: [] }
          return Promise.resolve({ peers: [{ owner, peerId, state: 'seeder', ...transfer }], places: 1 })
        },
      },
      write: (_day, counts) => Promise.resolve(void written.push(counts)),
      clock: { now: () => now },
    })
    const runAfter = async (ms: number) => {
      now += ms
      await census.run()
      return written
    }
    return runAfter
  }
  const counted = (peers: number) => [{ client: '-qB5010-', peers, users: peers }]

  test('a large site is counted in several runs, and again after ten minutes', async () => {
    const runAfter = censusOf(2_500)
    expect(await runAfter(60_000)).toEqual([])
    expect(await runAfter(60_000)).toEqual([])
    expect(await runAfter(60_000)).toEqual([counted(2_500)])
    for (let minute = 0; minute < 7; minute++) expect(await runAfter(60_000)).toHaveLength(1)
    for (let minute = 0; minute < 3; minute++) await runAfter(60_000)
    expect(await runAfter(60_000)).toEqual([counted(2_500), counted(2_500)])
  })

  test('a count that was interrupted for long starts over', async () => {
    const runAfter = censusOf(1_500)
    expect(await runAfter(60_000)).toEqual([])
    expect(await runAfter(3_600_000)).toEqual([])
    expect(await runAfter(60_000)).toEqual([counted(1_500)])
  })
})

describe('client rules', () => {
  const rulesOf = (...texts: string[]) => compileRules(texts.flatMap((text) => parseRule(text) ?? []))
  const allowed = (rules: ReturnType<typeof rulesOf>, ...ids: string[]) =>
    ids.filter((id) => rules.verdict(idOf(id)).isAllowed)

  test('without rules, every client is allowed', () => {
    expect(rulesOf().verdict(idOf('-qB5010-'))).toEqual({ isAllowed: true, rule: undefined })
  })

  test('deny rules wait for their prefix and version', () => {
    const rules = rulesOf('deny -qB below 4.5', 'deny -TR is 4.0.0', 'deny -XL', 'deny -DE from 3')
    const ids = ['-qB44A0-', '-qB4500-', '-qB5010-', '-TR4000-', '-TR4001-', '-TR3990-', '-XL0012-', '-xL0012-']
    expect(allowed(rules, ...ids, '-DE2990-', '-DE3000-', '-qBxx')).toEqual([
      ...['-qB4500-', '-qB5010-', '-TR4001-', '-TR3990-', '-xL0012-', '-DE2990-', '-qBxx'],
    ])
    expect(rules.explain(idOf('-qB4400-'))).toBe('qBittorrent before 4.5 cannot announce here')
  })

  test('with allow rules, all others are refused, and a deny rule wins', () => {
    const rules = rulesOf('allow -qB from 4.5', 'allow -TR', 'deny -TR is 4.0.0')
    expect(allowed(rules, '-qB4500-', '-qB4490-', '-TR4000-', '-TR4060-', '-DE2110-', 'xx')).toEqual([
      '-qB4500-',
      '-TR4060-',
    ])
    expect(rules.explain(idOf('-DE2110-'))).toBe('use qBittorrent 4.5 or later, Transmission')
    expect(rules.explain(idOf('-TR4000-'))).toBe(
      'Transmission 4.0.0 cannot announce here; use qBittorrent 4.5 or later, Transmission',
    )
  })

  test.each<ClientRule>([
    { verdict: 'deny', prefix: '-qB', condition: 'below', version: '4.5' },
    { verdict: 'allow', prefix: '-TR4', condition: 'any', version: null },
  ])('a rule can be read from its text: %j', (rule) => {
    expect(parseRule(ruleText(rule))).toEqual(rule)
  })

  test.each(['', 'permit -qB', 'deny -qB above 4'])('the text %j is not a rule', (text) => {
    expect(parseRule(text)).toBeUndefined()
  })
})
