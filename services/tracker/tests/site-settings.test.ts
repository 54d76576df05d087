import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { sql } from 'kysely'
import type { Answer, Client } from './support/client.ts'
import { makePng, pngChunk } from './support/make-png.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker
let admin: Client

beforeAll(async () => {
  tracker = await startTracker({ SITE_NAME: 'Configured', SEED_HOURS: '48' })
  replica = await tracker.replica()
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('admin', 'admin')
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

const NOTHING_SET = {
  name: null,
  accent: null,
  registration: null,
  uploadApproval: null,
  editApproval: null,
  seedHours: null,
  staffSecondFactor: null,
} as const
afterEach(() => admin.patch('/api/admin/site', NOTHING_SET))

const change = (changes: object): Promise<Answer> => admin.patch('/api/admin/site', changes)
const setLogo = (file: Buffer): Promise<Answer> =>
  admin.send('PUT', '/api/admin/site/logo', {
    body: JSON.stringify({ png: file.toString('base64') }),
    headers: { 'content-type': 'application/json' },
  })

test('settings of the panel win over the configuration, and null returns to it', async () => {
  const defaults = {
    ...{ name: 'Configured', registration: 'invite', uploadApproval: 'automatic' },
    ...{ editApproval: 'automatic', seedHours: 48, staffSecondFactor: false },
  }
  expect((await admin.get('/api/admin/site')).json).toMatchObject({ ...NOTHING_SET, logo: null, defaults })
  const set = { name: 'Films & Friends', registration: 'open', uploadApproval: 'manual', seedHours: 0 }
  expect((await change(set)).json).toMatchObject({ ...set, editApproval: null, defaults })
  expect((await change({ seedHours: null })).json).toMatchObject({ ...set, seedHours: null })
})

test('everyone may register at every replica once an administrator opens registration', async () => {
  const register = (username: string): Promise<Answer> =>
    replica.client().post('/api/auth/register', { username, email: `${username}@example.org`, password: PASSWORD })
  expect((await register('early')).status).toBe(403)
  await change({ registration: 'open' })
  await eventually(async () => (await replica.client().get('/api/site')).member('registration') === 'open')
  expect((await register('welcome')).status).toBe(201)
  await change({ registration: 'closed' })
  await eventually(async () => (await register('late')).status === 403)
})

test('uploads of members wait once an administrator demands approval, and edits too', async () => {
  const member = await tracker.signedIn('uploader')
  const upload = (name: string): Promise<Answer> => member.upload(makeTorrent(name), { category: 'tv-hd' })
  const first = await upload('Paper.Moons.2024.1080p')
  expect(first.member('state')).toBe('approved')
  await change({ uploadApproval: 'manual' })
  expect((await upload('Distant.Shores.2023.1080p')).member('state')).toBe('pending')
  const edited = async (name: string): Promise<string> =>
    (await member.patch(`/api/torrents/${first.member('id')}`, { name })).member('state')
  expect(await edited('Paper.Moons.2024.1080p.PROPER')).toBe('approved')
  await change({ editApproval: 'manual' })
  expect(await edited('Paper.Moons.2024.1080p.REPACK')).toBe('pending')
})

test('the minimum seed time follows the panel', async () => {
  const member = await tracker.signedIn('seeder')
  const required = async (): Promise<unknown> => (await member.get('/api/user/torrents/totals?list=duties')).json
  expect(await required()).toMatchObject({ requiredSeconds: 48 * 3_600 })
  await change({ seedHours: 5 })
  expect(await required()).toMatchObject({ requiredSeconds: 5 * 3_600 })
})

test('the admin log records what an administrator sets', async () => {
  await change({ registration: 'closed', accent: '#00aa55' })
  expect((await admin.get('/api/admin/log?action=site.update&limit=1')).json).toMatchObject({
    items: [{ before: { registration: null, accent: null }, after: { registration: 'closed', accent: '#00aa55' } }],
  })
})

test.each([
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(65) }, 'name'],
  [{ name: 'two\nlines' }, 'name'],
  [{ accent: 'red' }, 'accent'],
  [{ accent: '#00AA55' }, 'accent'],
  [{ accent: '#00aa55;}' }, 'accent'],
  [{ registration: 'maybe' }, 'registration'],
  [{ uploadApproval: '' }, 'uploadApproval'],
  [{ seedHours: -1 }, 'seedHours'],
  [{ seedHours: 10_001 }, 'seedHours'],
  [{ seedHours: 1.5 }, 'seedHours'],
  [{ logo: '/logo.png' }, 'logo'],
])('refuses %j', async (changes, field) => {
  const answer = await change(changes)
  expect(answer.status).toBe(400)
  expect(answer.member('error', 'message')).toContain(field)
})

test('members can neither read nor change the settings', async () => {
  const member = await tracker.signedIn('curious')
  expect((await member.get('/api/admin/site')).status).toBe(403)
  expect((await member.patch('/api/admin/site', { accent: null })).status).toBe(403)
  expect((await member.delete('/api/admin/site/logo')).status).toBe(403)
})

test('the page, the manifest and Torznab have the name and the accent of the site at every replica', async () => {
  await change({ name: '<b>Films & Friends</b>', accent: '#ffd500' })
  const read = async (path: string): Promise<string> => (await replica.client().get(path)).text
  for (const client of [tracker.client(), replica.client()])
    await eventually(async () => (await client.get('/')).text.includes('<style>:root{--brand:#ffd500}</style>'))
  const page = await read('/')
  expect(page).toContain('<title>&lt;b&gt;Films &amp; Friends&lt;/b&gt;</title>')
  expect(page).toContain('<link rel="icon" href="/icon-ffd500.svg" type="image/svg+xml">')
  expect(page).not.toContain('og:')
  expect(JSON.parse(await read('/manifest.webmanifest'))).toMatchObject({
    name: '<b>Films & Friends</b>',
    icons: [{ src: '/icon-ffd500.svg', type: 'image/svg+xml' }],
  })
  const icon = await tracker.client().get('/icon-ffd500.svg')
  expect(icon.headers.get('content-type')).toMatch(/^image\/svg\+xml/)
  expect(icon.text).toContain('fill="#ffd500"')
  expect(await read('/api/torznab?t=caps')).toContain('title="&lt;b&gt;Films &amp; Friends&lt;/b&gt;"')
})

test('a logo is published without metadata under a name of its content, until it is removed', async () => {
  const secret = 'GPS 52.5N 13.4E'
  const set = await setLogo(makePng(64, [pngChunk('tEXt', Buffer.from(secret)), pngChunk('eXIf', Buffer.from(secret))]))
  expect(set.status).toBe(200)
  const path = set.member('logo')
  expect(path).toMatch(/^\/logo-[0-9a-f]{32}\.png$/)
  const logo = await tracker.client().get(path)
  expect(Object.fromEntries(logo.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  expect(logo.bytes).toEqual(makePng(64))
  await eventually(async () => (await replica.client().get('/')).text.includes(`href="${path}" type="image/png"`))

  const unused = 'f'.repeat(32)
  await tracker.sql('insert into site_logos (digest, png) values ($1, $2)', [unused, Buffer.from('x')])
  expect((await tracker.client().get(`/logo-${unused}.png`)).status).toBe(404)

  const other = await setLogo(makePng(32))
  expect(other.member('logo')).not.toBe(path)
  expect((await tracker.client().get(path)).status).toBe(404)
  expect((await admin.delete('/api/admin/site/logo')).json).toMatchObject({ logo: null })
  expect((await tracker.client().get(other.member('logo'))).status).toBe(404)
  expect(await tracker.sql('select 1 from site_logos')).toEqual([])
})

const whole = makePng(64)
test.each([
  ['an SVG file', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['nothing', Buffer.alloc(0)],
  ['a file that ends early', whole.subarray(0, -6)],
  ['a picture that is too small', makePng(15)],
  ['a picture that is too large', makePng(513)],
  ['a file that is too large', makePng(64, [pngChunk('tEXt', Buffer.alloc(65_536, 'x'))])],
  [
    'a chunk longer than the file',
    Buffer.concat([whole.subarray(0, 33), Buffer.from('ffffffff49444154', 'hex'), whole]),
  ],
])('refuses %s as a logo', async (_what, file) => {
  const answer = await setLogo(file)
  expect(answer.status).toBe(400)
  expect(answer.member('error', 'message')).toContain('png')
})

test('what follows the picture in a file is not published', async () => {
  const set = await setLogo(Buffer.concat([makePng(16), Buffer.from('<script>alert(1)</script>')]))
  expect((await tracker.client().get(set.member('logo'))).bytes).toEqual(makePng(16))
})

describe('the rules', () => {
  const publish = (text: string, replaces: number): Promise<Answer> =>
    admin.post('/api/admin/rules', { text, replaces })

  test('members accept each version once, and it is recorded', async () => {
    const member = await tracker.signedIn('reader')
    const waiting = async (): Promise<unknown> => (await member.get('/api/start')).json
    expect((await member.get('/api/rules')).json).toEqual({ version: 0, text: '', published: null, accepted: null })
    expect(await waiting()).toMatchObject({ rulesWaiting: false, user: { username: 'reader', ratio: null } })
    expect((await publish('# Be kind\r\n\r\n- Seed.', 0)).status).toBe(204)
    expect(await waiting()).toMatchObject({ rulesWaiting: true })
    // The author has read them.
    expect((await admin.get('/api/start')).json).toMatchObject({ rulesWaiting: false })
    expect((await member.get('/api/rules')).json).toMatchObject({ version: 1, text: '# Be kind\n\n- Seed.' })
    for (let time = 0; time < 2; time += 1)
      expect((await member.post('/api/rules/acceptance', { version: 1 })).status).toBe(204)
    expect(await waiting()).toMatchObject({ rulesWaiting: false })
    expect((await member.get('/api/rules')).json).toMatchObject({ accepted: expect.stringMatching(/Z$/) })

    expect((await publish('# Be kinder', 1)).status).toBe(204)
    expect(await waiting()).toMatchObject({ rulesWaiting: true })
    for (const version of [0, 1, 3]) expect((await member.post('/api/rules/acceptance', { version })).status).toBe(409)
    expect((await admin.get('/api/admin/rules')).json).toMatchObject({
      items: [
        { version: 2, acceptances: 1, by: { username: 'admin' } },
        { version: 1, acceptances: 2 },
      ],
      total: 2,
    })
    expect((await admin.get('/api/admin/rules/1')).json).toEqual({ text: '# Be kind\n\n- Seed.' })
    expect((await admin.get('/api/admin/log?action=rules.publish&limit=1')).json).toMatchObject({
      items: [{ before: { version: 1 }, after: { version: 2, rules: '# Be kinder' } }],
    })
  })

  test('of administrators who replace the same version at once, one succeeds', async () => {
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((text) => publish(text, 2)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409, 409, 409])
    expect((await publish('Late', 1)).status).toBe(409)
  })

  test('the run-time role can neither change nor delete versions and acceptances', async () => {
    for (const statement of [
      'delete from rules',
      `update rules set text = 'x'`,
      'delete from rule_acceptances',
      'update rule_acceptances set version = 2',
    ])
      await expect(sql.raw(statement).execute(tracker.db)).rejects.toThrow('permission denied')
  })

  test.each(['', ' \n ', 'x'.repeat(20_001), 'a\u0000b', 7])('refuses %j as a text', async (text) => {
    expect((await admin.post('/api/admin/rules', { text, replaces: 0 })).status).toBe(400)
  })

  test('members cannot publish, and visitors cannot read', async () => {
    const member = await tracker.signedIn('author')
    expect((await member.post('/api/admin/rules', { text: 'Mine', replaces: 0 })).status).toBe(403)
    expect((await tracker.client().get('/api/rules')).status).toBe(401)
    expect((await admin.get('/api/admin/rules/99')).status).toBe(404)
  })
})

test('the checklist knows what is set up', async () => {
  const checklist = async (): Promise<unknown> => (await admin.get('/api/admin/checklist')).json
  expect(await checklist()).toEqual({
    ...{ look: true, registration: false, categories: true, rules: true, upload: true, dismissed: false },
  })
  await change({ registration: 'invite', checklistDismissed: true })
  expect(await checklist()).toMatchObject({ registration: true, dismissed: true })
  const fresh = await startTracker()
  const owner = await fresh.signedIn('owner', 'admin')
  expect((await owner.get('/api/admin/checklist')).json).toEqual({
    ...{ look: false, registration: false, categories: false, rules: false, upload: false, dismissed: false },
  })
  await fresh.stop()
})
