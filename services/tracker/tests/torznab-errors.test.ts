import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createMember } from './support/members.ts'
import { readError, readFeed, setLimits, startTorznabSite, type TorznabSite, withKey } from './support/torznab.ts'

let site: TorznabSite

beforeAll(async () => {
  site = await startTorznabSite()
  await setLimits(site.tracker)
})

afterAll(() => site.tracker.stop())

const WRONG_KEY = 'f'.repeat(40)

describe('refused requests, with their codes and statuses', () => {
  const cases: readonly (readonly [query: string, status: number, code: number, description: string])[] = [
    ['', 400, 200, 'Missing parameter: t'],
    ['t=', 400, 200, 'Missing parameter: t'],
    ['t=nonsense', 400, 300, 'No such function'],
    ['t=details', 400, 200, 'Missing parameter: id'],
    [`t=search&apikey=${WRONG_KEY}`, 401, 100, 'Incorrect user credentials'],
    ['t=search&apikey=short', 401, 100, 'Incorrect user credentials'],
    ['t=search&apikey=%00', 401, 100, 'Incorrect user credentials'],
    // The key is checked before the query.
    [`t=search&apikey=${WRONG_KEY}&limit=-1`, 401, 100, 'Incorrect user credentials'],
    ['t=search&limit=-1', 400, 201, 'Incorrect parameter: limit'],
    ['t=search&limit=ten', 400, 201, 'Incorrect parameter: limit'],
    ['t=search&offset=-5', 400, 201, 'Incorrect parameter: offset'],
    ['t=search&cat=tv', 400, 201, 'Incorrect parameter: cat'],
    ['t=tvsearch&season=one', 400, 201, 'Incorrect parameter: season'],
    ['t=tvsearch&season=2026&ep=02/30', 400, 201, 'Incorrect parameter: ep'],
    ['t=movie&imdbid=abc', 400, 201, 'Incorrect parameter: imdbid'],
    ['t=movie&year=21', 400, 201, 'Incorrect parameter: year'],
    ['t=details&id=xyz', 400, 201, 'Incorrect parameter: id'],
    [`t=details&id=${'0'.repeat(40)}`, 404, 300, 'No such item'],
  ]

  test.each(cases)('%s', async (query, status, code, description) => {
    const answer = await site.ask(query)
    expect(readError(answer)).toEqual({ code, description })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('a search without a key', async () => {
    const answer = await site.tracker.client().get('/api/torznab?t=search')
    expect([answer.status, readError(answer)]).toEqual([400, { code: 200, description: 'Missing parameter: apikey' }])
  })

  test('errors of a request for JSON are JSON', async () => {
    const answer = await site.ask(`t=search&o=json&apikey=${WRONG_KEY}`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.json).toEqual({
      error: { '@attributes': { code: '100', description: 'Incorrect user credentials' } },
    })
    const post = await site.tracker.client().send('POST', '/api/torznab?t=search&o=json')
    expect([post.status, post.headers.get('content-type')]).toEqual([405, 'application/json; charset=utf-8'])
  })
})

describe('accounts', () => {
  test('banned, suspended and blocked users get different errors', async () => {
    const member = await createMember(site.tracker, 'misbehaved')
    const admin = await site.tracker.signedIn('judge', 'admin')
    const ask = async () => {
      const answer = await site.ask(`t=search&apikey=${member.passkey}`)
      return [answer.status, answer.status === 200 ? 0 : readError(answer).code]
    }
    const set = (changes: object) => admin.patch(`/api/admin/users/${member.id}`, changes)
    expect(await ask()).toEqual([200, 0])
    // Each change applies to the next request, although users are cached.
    await set({ state: 'suspended', suspendedUntil: '2999-01-31T12:00:00Z', reason: 'shared passkey' })
    expect(await ask()).toEqual([403, 101])
    // As when they sign in.
    const { description } = readError(await site.ask(`t=search&apikey=${member.passkey}`))
    expect(description).toContain('2999-01-31 12:00 UTC')
    expect(description).toContain('shared passkey')
    await set({ state: 'banned' })
    expect(await ask()).toEqual([401, 100])
    await set({ state: 'active', apiBlocked: true })
    expect(await ask()).toEqual([403, 102])
    await set({ apiBlocked: false })
    expect(await ask()).toEqual([200, 0])
  })

  test('replacing a key revokes the old one', async () => {
    const member = await createMember(site.tracker, 'rekeyed')
    expect((await site.ask(`t=search&apikey=${member.passkey}`)).status).toBe(200)
    await member.client.post('/api/user/passkey')
    expect((await site.ask(`t=search&apikey=${member.passkey}`)).status).toBe(401)
    const me = await member.client.get('/api/user/me')
    expect((await site.ask(`t=search&apikey=${me.member('passkey')}`)).status).toBe(200)
  })

  test('keys are not logged', async () => {
    await site.ask('t=search&q=nothing')
    await site.ask(`t=search&apikey=${WRONG_KEY}`)
    expect(site.tracker.logged()).not.toContain(site.uploader.passkey)
    expect(site.tracker.logged()).not.toContain(WRONG_KEY)
  })
})

describe('download', () => {
  const download = (query: string) =>
    site.tracker.client().get(`/api/torznab/download?${withKey(query, site.uploader.passkey)}`)

  test('reports missing, invalid and unknown parameters', async () => {
    const outcomes = []
    for (const query of ['', 'id=', 'id=xyz', `id=${'0'.repeat(40)}`, `id=${'0'.repeat(40)}&apikey=${WRONG_KEY}`]) {
      const answer = await download(query)
      outcomes.push([answer.status, readError(answer).code])
    }
    expect(outcomes).toEqual([
      [400, 200],
      [400, 200],
      [400, 201],
      [404, 300],
      [401, 100],
    ])
    const noKey = await site.tracker.client().get(`/api/torznab/download?id=${'0'.repeat(40)}`)
    expect([noKey.status, readError(noKey).description]).toEqual([400, 'Missing parameter: apikey'])
  })

  test('a user who may not download gets 102, except for their own torrents', async () => {
    const { infoHash } = await site.upload('Withheld.Film.2020.1080p.BluRay.x264-GRP', { category: 'movies-hd' })
    const member = await createMember(site.tracker, 'withheld')
    const admin = await site.tracker.signedIn('keeper', 'admin')
    const query = `id=${infoHash.toUpperCase()}&apikey=${member.passkey}`
    expect((await download(query)).status).toBe(200)
    await admin.patch(`/api/admin/users/${member.id}`, { canDownload: false })
    const refused = await download(query)
    expect([refused.status, readError(refused).code]).toEqual([403, 102])
    await admin.patch(`/api/admin/users/${site.uploader.id}`, { canDownload: false })
    expect((await download(`id=${infoHash}`)).status).toBe(200)
  })
})

test('a disabled API answers only 910, on every replica', async () => {
  const replica = await site.tracker.replica()
  const replicaStatus = async () => (await replica.client().get('/api/torznab?t=caps')).status
  expect(await replicaStatus()).toBe(200)
  expect((await site.ask('t=caps')).status).toBe(200)
  const admin = await site.tracker.signedIn('switcher', 'admin')
  await admin.patch('/api/admin/torznab/settings', { enabled: false })
  for (const query of ['t=caps', 't=search', 't=nonsense']) {
    const answer = await site.ask(query)
    expect([answer.status, readError(answer)]).toEqual([403, { code: 910, description: 'API Disabled' }])
  }
  const download = await site.tracker.client().get(`/api/torznab/download?${withKey('id=x', site.uploader.passkey)}`)
  expect([download.status, readError(download).code]).toEqual([403, 910])
  await eventually(async () => (await replicaStatus()) === 403)
  await admin.patch('/api/admin/torznab/settings', { enabled: true })
  expect((await site.ask('t=search')).status).toBe(200)
  await eventually(async () => (await replicaStatus()) === 200)
  await replica.stop()
})

test('with TORZNAB_ERROR_STATUS=200 refusals have that status, except for limits and downloads', async () => {
  const plain = await startTorznabSite({ TORZNAB_ERROR_STATUS: '200' })
  try {
    for (const [query, code] of [
      [`t=search&apikey=${WRONG_KEY}`, 100],
      ['t=nonsense', 300],
      ['t=search&limit=x', 201],
    ] as const) {
      const answer = await plain.ask(query)
      expect([answer.status, readError(answer).code]).toEqual([200, code])
    }
    const download = await plain.tracker.client().get(`/api/torznab/download?id=x&apikey=${plain.uploader.passkey}`)
    expect(download.status).toBe(400)
    await setLimits(plain.tracker, { searches: 1 })
    await plain.ask('t=search')
    const limited = await plain.ask('t=search')
    expect([limited.status, readError(limited).code]).toEqual([429, 500])
  } finally {
    await plain.tracker.stop()
  }
})

test('every query gets a feed or an error', async () => {
  for (const query of [
    't=search&q=%00',
    't=search&q=%F0%28%8C%28',
    't=search&q=%27%3B+drop+table+torrents',
    `t=search&q=${'x'.repeat(5_000)}`,
    't=search&q[]=1&q[a]=2&cat[]=2000',
    't=search&&&=&q',
    't=tvsearch&season=9999&ep=99999',
    't=search&offset=999999999999999999999',
    't=search&minsize=99999999999999999999&maxsize=1',
    't=search&maxage=999999999',
    't=tvsearch&tvdbid=2147483647',
  ]) {
    const answer = await site.ask(query)
    if (answer.status === 200) await readFeed(answer)
    else expect([400, readError(answer).code]).toEqual([answer.status, 201])
  }
})
