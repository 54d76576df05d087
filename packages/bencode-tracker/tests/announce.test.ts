import { describe, expect, test } from '@jest/globals'
import { type AnnounceFailure, type AnnounceRequest, parseAnnounceQuery } from '../src/index.ts'
import { announceQuery, escapeAll, INFO_HASH, PASSKEY, PEER_ID } from './support/query.ts'

function parsed(query: string): AnnounceRequest {
  const result = parseAnnounceQuery(query)
  if (!result.ok) throw new Error(`refused: ${result.failure}`)
  return result.request
}

function refusal(query: string): AnnounceFailure | undefined {
  const result = parseAnnounceQuery(query)
  return result.ok ? undefined : result.failure
}

const defaults: AnnounceRequest = parsed(announceQuery())

describe('parseAnnounceQuery reads', () => {
  test('the required parameters, with defaults for the others', () => {
    expect(defaults).toEqual({
      infoHash: INFO_HASH.toString('hex'),
      peerId: PEER_ID.toString('hex'),
      port: 6881,
      uploaded: 0,
      downloaded: 0,
      left: 1000,
      event: 'none',
      compact: true,
      noPeerId: false,
      numwant: 50,
      key: undefined,
      trackerId: undefined,
      ip: undefined,
      ipv4: undefined,
      ipv6: undefined,
      passkey: undefined,
    })
  })

  const readings: [string, Record<string, string>, Partial<Record<keyof AnnounceRequest, unknown>>][] = [
    ['an empty event as none', { event: '' }, { event: 'none' }],
    ['the event empty of BEP 3 as none', { event: 'empty' }, { event: 'none' }],
    ['started', { event: 'started' }, { event: 'started' }],
    ['completed', { event: 'completed' }, { event: 'completed' }],
    ['stopped', { event: 'stopped' }, { event: 'stopped' }],
    ['the event paused of partial seeds', { event: 'paused' }, { event: 'paused' }],
    ['compact=1', { compact: '1' }, { compact: true }],
    ['compact=0 as a wish for the list', { compact: '0' }, { compact: false }],
    ['no_peer_id=1', { no_peer_id: '1' }, { noPeerId: true }],
    ['no_peer_id=0', { no_peer_id: '0' }, { noPeerId: false }],
    ['numwant', { numwant: '7' }, { numwant: 7 }],
    ['numwant=0', { numwant: '0' }, { numwant: 0 }],
    ['a large numwant as 100', { numwant: '9007199254740991' }, { numwant: 100 }],
    ['the largest numwant of 64 bits as 100', { numwant: '18446744073709551615' }, { numwant: 100 }],
    ['the smallest numwant of 64 bits as 0', { numwant: '-9223372036854775808' }, { numwant: 0 }],
    ['a negative numwant as 0', { numwant: '-1' }, { numwant: 0 }],
    ['a very negative numwant as 0', { numwant: '-9007199254740991' }, { numwant: 0 }],
    ['the largest counters', { uploaded: '9007199254740991' }, { uploaded: Number.MAX_SAFE_INTEGER }],
    ['leading zeros of counters', { downloaded: '007' }, { downloaded: 7 }],
    ['port 0, which is for the caller to judge', { port: '0' }, { port: 0 }],
    ['port 65535', { port: '65535' }, { port: 65535 }],
    [
      'left of 2^63 - 1, what Transmission sends for a magnet link',
      { left: '9223372036854775807' },
      { left: 2 ** 53 - 1 },
    ],
    ['left of 2^64 - 1, what older Transmissions send', { left: '18446744073709551615' }, { left: 2 ** 53 - 1 }],
    ['key', { key: '1A2B3C4D' }, { key: '1A2B3C4D' }],
    ['an escaped key', { key: '%31A%ff' }, { key: '1A\u00ff' }],
    ['an empty key', { key: '' }, { key: '' }],
    ['trackerid', { trackerid: 'abc' }, { trackerId: 'abc' }],
    [
      'claimed addresses, decoded and unchecked',
      { ip: 'example.org', ipv6: '%5B2001%3adb8::1%5D%3A6882' },
      {
        ip: 'example.org',
        ipv6: '[2001:db8::1]:6882',
      },
    ],
    ['ipv4', { ipv4: '192.0.2.1' }, { ipv4: '192.0.2.1' }],
    ['the passkey in lower case', { passkey: PASSKEY.toUpperCase() }, { passkey: PASSKEY }],
    ['nothing from parameters it does not know', { corrupt: 'x', redundant: '%', supportcrypto: '', '': '' }, {}],
  ]
  test.each(readings)('%s', (_fact, overrides, expected) => {
    expect(parsed(announceQuery(overrides))).toEqual({ ...defaults, ...expected })
  })

  test('binary ids, escaped or not', () => {
    const id = Buffer.from('aZ09-_.~!$*()+,;:@/?', 'latin1')
    const query = announceQuery({ info_hash: id.toString('latin1'), peer_id: escapeAll(id).toUpperCase() })
    expect(parsed(query).infoHash).toBe(id.toString('hex'))
    expect(parsed(query.replaceAll('%2D', '-')).peerId).toBe(id.toString('hex'))
  })

  test('a second question mark behind the passkey like an ampersand', () => {
    expect(parsed(`passkey=${PASSKEY}?${announceQuery()}`)).toEqual({ ...defaults, passkey: PASSKEY })
  })

  test('a question mark inside an info hash as the byte it is', () => {
    expect(parsed(announceQuery({ info_hash: '?'.repeat(20) })).infoHash).toBe('3f'.repeat(20))
  })

  test('the first of several ip, since one client sends one for each address family', () => {
    expect(parsed(`${announceQuery({ ip: '192.0.2.1' })}&ip=2001:db8::1`).ip).toBe('192.0.2.1')
  })

  test('a query with superfluous ampersands', () => {
    expect(parsed(`&&${announceQuery().replaceAll('&', '&&')}&`)).toEqual(defaults)
  })

  test('a query after a longer one, without its parameters', () => {
    parseAnnounceQuery(announceQuery({ peer_id: 'f'.repeat(20), key: 'f'.repeat(60) }))
    expect(refusal('info_hash=%')).toBe('invalid_info_hash')
    expect(refusal('info_hash=%f')).toBe('invalid_info_hash')
  })
})

describe('parseAnnounceQuery refuses', () => {
  test('an empty query', () => {
    expect(refusal('')).toBe('missing_info_hash')
  })

  test.each<[string, AnnounceFailure]>([
    ['info_hash', 'missing_info_hash'],
    ['peer_id', 'missing_peer_id'],
    ['port', 'missing_port'],
    ['uploaded', 'missing_uploaded'],
    ['downloaded', 'missing_downloaded'],
    ['left', 'missing_left'],
  ])('an announce without %s', (name, failure) => {
    expect(refusal(announceQuery({ [name]: undefined }))).toBe(failure)
  })

  const refusals: [string, Record<string, string>, AnnounceFailure][] = [
    ['an empty info_hash', { info_hash: '' }, 'invalid_info_hash'],
    ['an info_hash of 19 bytes', { info_hash: '%00'.repeat(19) }, 'invalid_info_hash'],
    ['an info_hash of 21 bytes', { info_hash: '%00'.repeat(21) }, 'invalid_info_hash'],
    ['an info_hash in hex', { info_hash: INFO_HASH.toString('hex') }, 'invalid_info_hash'],
    ['an info_hash with a broken escape', { info_hash: `%0g${'a'.repeat(19)}` }, 'invalid_info_hash'],
    ['an info_hash that ends inside an escape', { info_hash: `${'a'.repeat(19)}%a` }, 'invalid_info_hash'],
    ['an info_hash with a bare space', { info_hash: ' '.repeat(20) }, 'invalid_info_hash'],
    ['an info_hash with bare control bytes', { info_hash: '\x01'.repeat(20) }, 'invalid_info_hash'],
    ['a peer_id of 19 bytes', { peer_id: 'a'.repeat(19) }, 'invalid_peer_id'],
    ['a peer_id of 21 bytes', { peer_id: 'a'.repeat(21) }, 'invalid_peer_id'],
    ['a port of 65536', { port: '65536' }, 'invalid_port'],
    ['a negative port', { port: '-1' }, 'invalid_port'],
    ['an empty port', { port: '' }, 'invalid_port'],
    ['a port in hex', { port: '0x1A' }, 'invalid_port'],
    ['a negative uploaded', { uploaded: '-1' }, 'invalid_uploaded'],
    ['an uploaded with a plus sign', { uploaded: '+1' }, 'invalid_uploaded'],
    ['an uploaded of 2^53', { uploaded: '9007199254740992' }, 'invalid_uploaded'],
    ['an uploaded of 17 digits', { uploaded: '00000000000000001' }, 'invalid_uploaded'],
    ['a fractional downloaded', { downloaded: '1.5' }, 'invalid_downloaded'],
    ['an exponent in downloaded', { downloaded: '1e3' }, 'invalid_downloaded'],
    ['an escaped digit in downloaded', { downloaded: '%31' }, 'invalid_downloaded'],
    ['an empty left', { left: '' }, 'invalid_left'],
    ['a negative left', { left: '-1' }, 'invalid_left'],
    ['a left of 21 digits', { left: '1'.repeat(21) }, 'invalid_left'],
    ['an unknown event', { event: 'finished' }, 'invalid_event'],
    ['an event in capitals', { event: 'STARTED' }, 'invalid_event'],
    ['compact=2', { compact: '2' }, 'invalid_compact'],
    ['an empty compact', { compact: '' }, 'invalid_compact'],
    ['compact=10', { compact: '10' }, 'invalid_compact'],
    ['no_peer_id=yes', { no_peer_id: 'yes' }, 'invalid_no_peer_id'],
    ['a numwant that is no number', { numwant: 'all' }, 'invalid_numwant'],
    ['a numwant of a minus sign alone', { numwant: '-' }, 'invalid_numwant'],
    ['an empty numwant', { numwant: '' }, 'invalid_numwant'],
    ['a key of more than 64 bytes', { key: 'a'.repeat(65) }, 'invalid_key'],
    ['a key with a broken escape', { key: '%zz' }, 'invalid_key'],
    ['a key that ends inside an escape', { key: 'a%1' }, 'invalid_key'],
    ['a key with a bare space', { key: 'a b' }, 'invalid_key'],
    ['a trackerid of more than 128 bytes', { trackerid: 'a'.repeat(129) }, 'invalid_trackerid'],
    ['an ip of more than 255 bytes', { ip: 'a'.repeat(256) }, 'invalid_ip'],
    ['an ipv4 with a broken escape', { ipv4: '%' }, 'invalid_ip'],
    ['an ipv6 with a broken escape', { ipv6: '%5' }, 'invalid_ip'],
    ['a passkey of 39 digits', { passkey: PASSKEY.slice(1) }, 'invalid_passkey'],
    ['a passkey of 41 digits', { passkey: `${PASSKEY}0` }, 'invalid_passkey'],
    ['a passkey with a letter beyond f', { passkey: `${PASSKEY.slice(1)}g` }, 'invalid_passkey'],
    ['an empty passkey', { passkey: '' }, 'invalid_passkey'],
    ['a passkey with nothing but a question mark behind it', { passkey: '?' }, 'invalid_passkey'],
  ]
  test.each(refusals)('%s', (_fact, overrides, failure) => {
    expect(refusal(announceQuery(overrides))).toBe(failure)
  })

  test('two info_hash', () => {
    expect(refusal(`${announceQuery()}&info_hash=${escapeAll(INFO_HASH)}`)).toBe('several_info_hashes')
  })

  test.each([
    'peer_id=aaaaaaaaaaaaaaaaaaaa',
    'port=1',
    'uploaded=0',
    'downloaded=0',
    'left=0',
    'event=',
    'compact=1',
    'no_peer_id=1',
    'numwant=1',
    'key=a',
    'trackerid=a',
    'ipv4=a',
    'ipv6=a',
    `passkey=${PASSKEY}`,
  ])('%s given twice', (parameter) => {
    const [name = ''] = parameter.split('=')
    expect(refusal(`${announceQuery({ [name]: undefined })}&${parameter}&${parameter}`)).toBe('repeated_parameter')
  })

  test('a known parameter without an equals sign as if it were empty', () => {
    expect(refusal(announceQuery({ port: undefined }) + '&port')).toBe('invalid_port')
  })

  test('names that resemble known ones', () => {
    expect(refusal(announceQuery({ port: undefined, p0rt: '1', Port: '1', ports: '1', por: '1' }))).toBe('missing_port')
    expect(refusal(announceQuery({ info_hash: undefined, 'info%5fhash': 'a'.repeat(20) }))).toBe('missing_info_hash')
  })

  test('a query of more than 4096 characters', () => {
    const query = `${announceQuery()}&x=`
    const longest = query + 'x'.repeat(4096 - query.length)
    expect(refusal(longest)).toBeUndefined()
    expect(refusal(`${longest}x`)).toBe('query_too_long')
  })

  test('a query with a character beyond ASCII, anywhere', () => {
    expect(refusal(announceQuery({ x: 'é' }))).toBe('invalid_query')
    expect(refusal(announceQuery({ info_hash: '\u0161'.repeat(20) }))).toBe('invalid_query')
    expect(refusal(announceQuery({ x: '\ud800' }))).toBe('invalid_query')
  })
})
