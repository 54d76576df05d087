import { describe, expect, test } from '@jest/globals'
import { parseTrackerTarget } from '../src/index.ts'
import { PASSKEY } from './support/query.ts'

describe('parseTrackerTarget recognises', () => {
  const targets: [string, string, string | undefined, string][] = [
    ['/announce', 'announce', undefined, ''],
    ['/announce?', 'announce', undefined, ''],
    ['/announce?info_hash=x', 'announce', undefined, 'info_hash=x'],
    [`/announce?passkey=${PASSKEY}`, 'announce', PASSKEY, `passkey=${PASSKEY}`],
    [`/announce?a=b&passkey=${PASSKEY}`, 'announce', PASSKEY, `a=b&passkey=${PASSKEY}`],
    ['/announce?a=b', 'announce', undefined, 'a=b'],
    [`/announce?port=1&passkey=${PASSKEY}&left=0`, 'announce', PASSKEY, `port=1&passkey=${PASSKEY}&left=0`],
    [`/announce?passkey=${PASSKEY}?port=1`, 'announce', PASSKEY, `passkey=${PASSKEY}?port=1`],
    [`/announce/${PASSKEY}`, 'announce', PASSKEY, ''],
    [`/announce/${PASSKEY}?port=1`, 'announce', PASSKEY, 'port=1'],
    [`/announce/${PASSKEY.toUpperCase()}?port=1`, 'announce', PASSKEY, 'port=1'],
    [`/announce/${PASSKEY}?passkey=${PASSKEY}`, 'announce', PASSKEY, `passkey=${PASSKEY}`],
    [`/${PASSKEY}/announce?port=1`, 'announce', PASSKEY, 'port=1'],
    ['/scrape', 'scrape', undefined, ''],
    [`/scrape?passkey=${PASSKEY}`, 'scrape', PASSKEY, `passkey=${PASSKEY}`],
    [`/scrape/${PASSKEY}?x`, 'scrape', PASSKEY, 'x'],
    [`/${PASSKEY}/scrape?x`, 'scrape', PASSKEY, 'x'],
    ['/announce?key=1A2B3C4D', 'announce', undefined, 'key=1A2B3C4D'],
    ['http://tracker.example/announce?port=1', 'announce', undefined, 'port=1'],
    [`HTTPS://tracker.example:443/${PASSKEY}/scrape?x`, 'scrape', PASSKEY, 'x'],
    ['/announce?notpasskey=1&x=passkey', 'announce', undefined, 'notpasskey=1&x=passkey'],
  ]
  test.each(targets)('%s', (target, action, passkey, rawQuery) => {
    expect(parseTrackerTarget(target)).toEqual({ ok: true, action, passkey, rawQuery })
  })
})

describe('parseTrackerTarget answers with a failure', () => {
  const other = PASSKEY.replace('a', 'b')
  test.each([
    ['a segment behind announce that is no passkey', '/announce/x'],
    ['an empty segment behind announce', '/announce/'],
    ['a further segment behind the passkey', `/announce/${PASSKEY}/x`],
    ['a malformed passkey parameter', '/announce?passkey=x'],
    ['a passkey parameter of one digit', '/announce?passkey=1'],
    ['an empty passkey parameter', '/announce?passkey='],
    ['a passkey parameter without a value sign', '/announce?passkey'],
    ['two passkeys that differ', `/announce/${PASSKEY}?passkey=${other}`],
    ['two passkeys that differ, the first in front', `/${PASSKEY}/announce?passkey=${other}`],
  ])('%s', (_fact, target) => {
    expect(parseTrackerTarget(target)).toEqual({ ok: false, action: 'announce', failure: 'invalid_passkey' })
  })

  test('of the scrape for a scrape', () => {
    expect(parseTrackerTarget('/scrape/x')).toEqual({ ok: false, action: 'scrape', failure: 'invalid_passkey' })
  })
})

describe('parseTrackerTarget leaves to others', () => {
  test.each([
    '',
    '/',
    '*',
    'announce',
    '/Announce',
    'http://tracker.example',
    'http://tracker.example?/announce',
    'http:/announce',
    'ftp://tracker.example/announce',
    '/announcer',
    '/announce.php',
    '/api/announce',
    '/api/torrents?x=/announce',
    `/${PASSKEY}`,
    `/${PASSKEY}/`,
    `/${PASSKEY}/announce/`,
    `/${PASSKEY}/announcer`,
    `/${PASSKEY.slice(1)}/announce`,
    `/${PASSKEY}0/announce`,
    `/${PASSKEY.slice(1)}g/announce`,
    `x${PASSKEY}/announce`,
    `/${PASSKEY}-announce`,
  ])('%j', (target) => {
    expect(parseTrackerTarget(target)).toBeUndefined()
  })
})
