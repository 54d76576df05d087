import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually, freePort, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { parse } from 'yaml'
import { LINE_FIELDS, LINE_PATTERN } from '../src/irc/announce-line.ts'
import { createToken } from './support/api-tokens.ts'
import { connectRaw, type IrcClient, joinIrc, makeCertificate, plain, type RawIrc } from './support/irc.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker
let alice: TestMember
let staff: TestMember['client']
let token: string
let port: number
let otherPort: number
const clients: IrcClient[] = []
const raws: RawIrc[] = []

beforeAll(async () => {
  ;[port, otherPort] = [await freePort(), await freePort()]
  tracker = await startTracker({ IRC_PORT: String(port), SITE_NAME: 'The "Site": #1' })
  replica = await tracker.replica({ IRC_PORT: String(otherPort), AUTH_LIMIT: '2' })
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'Alice')
  staff = await tracker.signedIn('staff', 'admin')
  token = (await createToken(alice.client, ['read'])).token
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.quit()
  for (const raw of raws.splice(0)) raw.socket.destroy()
  for (const each of [tracker, replica])
    await eventually(async () => (await metricOf(each, 'tracker_irc_connections')) === 0)
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

async function joinAt(where: number, account = { account: 'alice', password: token }): Promise<IrcClient> {
  const client = await joinIrc({ port: where }, account)
  clients.push(client)
  return client
}

async function raw(where = port): Promise<RawIrc> {
  const connection = await connectRaw(where)
  raws.push(connection)
  return connection
}

/** A connection in the channel. */
async function registered(password = token): Promise<RawIrc> {
  const connection = await raw()
  connection.send(
    'CAP REQ :sasl',
    'NICK me',
    'USER me 0 * :me',
    'AUTHENTICATE PLAIN',
    `AUTHENTICATE ${plain('alice', password)}`,
    'CAP END',
  )
  await connection.until(/ 366 me #announce /)
  return connection
}

const upload = async (name: string, fields: Readonly<Record<string, string>> = {}) =>
  (await alice.client.upload(makeTorrent('x'), { name, category: 'tv-hd', ...fields })).member('id')

/** Reads a line as autobrr does. */
function read(line: string | undefined): Record<string, string | undefined> {
  const [, ...groups] = new RegExp(LINE_PATTERN).exec(line ?? '') ?? []
  return Object.fromEntries(LINE_FIELDS.map((field, n) => [field, groups[n]]))
}

describe('announcements', () => {
  test('are lines that the definition reads, once for each member at any process', async () => {
    const [here, there] = [await joinAt(port), await joinAt(otherPort)]
    const id = await upload('The.Show.S01E01.1080p.WEB-GRP', { scene: 'true' })
    const evil = await upload('Evil | Category: movies | Size: 1 B | Uploader: staff | Freeleech: 100% |', {
      anonymous: 'true',
    })
    const long = await upload(`Ünï.${'ß'.repeat(240)}.S01E01`)
    await staff.patch(`/api/torrents/${id}`, { downloadPercent: 25 })
    await staff.patch('/api/admin/site', { downloadPercent: 40 })
    await upload('Free.S01E02.720p.WEB-GRP')
    await eventually(() => [here, there].every(({ lines }) => lines.length === 4))
    expect(there.lines).toEqual(here.lines)
    const expected = {
      category: 'tv-hd',
      torrentSize: '1000000',
      internal: 'no',
      torrentHash: expect.stringMatching(/^[0-9a-f]{40}$/),
      scene: 'no',
      baseUrl: 'http://tracker.test/',
    }
    expect(here.lines.map(read)).toEqual([
      {
        ...expected,
        torrentName: 'The.Show.S01E01.1080p.WEB-GRP',
        uploader: 'Alice',
        freeleechPercent: '0',
        scene: 'yes',
        torrentId: id,
      },
      {
        ...{ ...expected, torrentName: 'Evil | Category: movies | Size: 1 B | Uploader: staff | Freeleech: 100% |' },
        ...{ uploader: 'Anonymous', freeleechPercent: '0', torrentId: evil },
      },
      {
        ...expected,
        torrentName: expect.stringMatching(/^Ünï\.ß+…$/),
        uploader: 'Alice',
        freeleechPercent: '0',
        torrentId: long,
      },
      {
        ...expected,
        torrentName: 'Free.S01E02.720p.WEB-GRP',
        uploader: 'Alice',
        freeleechPercent: '60',
        torrentId: expect.any(String),
      },
    ])
    const whole = `:announce!announce@tracker.test PRIVMSG #announce :${here.lines[2] ?? ''}\r\n`
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(512)
    await staff.patch('/api/admin/site', { downloadPercent: 100 })
    const { text } = await tracker.client().get('/autobrr.yaml')
    const { token: apikey } = await createToken(alice.client, ['download'])
    const settings: Record<string, string | undefined> = { ...read(here.lines[0]), apikey }
    const { irc } = parse(text) as { irc: { parse: { match: { torrenturl: string } } } }
    const url = irc.parse.match.torrenturl.replaceAll(
      /\{\{ \.(\w+) \}\}/g,
      (_all, name: string) => settings[name] ?? '',
    )
    expect((await tracker.client().get(url)).headers.get('content-type')).toBe('application/x-bittorrent')
  })
})

describe('a sign-in', () => {
  test('needs the right username and token, and all wrong ones look the same', async () => {
    const other = await createMember(tracker, 'other')
    const { token: upload } = await createToken(alice.client, ['upload', 'download', 'torznab', 'account'])
    const { token: foreign } = await createToken(other.client, ['read'])
    const wrong = [
      ...[
        plain('alice', upload),
        plain('alice', foreign),
        plain('alice', `${token}x`),
        plain('', token),
        plain('other', token),
      ],
      ...[Buffer.from(`other\0alice\0${token}`).toString('base64'), Buffer.from('alice').toString('base64'), '!', '+'],
    ]
    const answers = await Promise.all(
      wrong.map(async (response) => {
        const connection = await raw()
        connection.send(
          'CAP LS 302',
          'CAP REQ :sasl',
          'NICK me',
          'USER me 0 * :me',
          'AUTHENTICATE PLAIN',
          `AUTHENTICATE ${response}`,
        )
        await connection.until(/ 904 .*\r\n/)
        connection.send('CAP END')
        await eventually(() => connection.isClosed())
        return connection.received()
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).not.toContain(' 001 ')
    expect(tracker.logged()).not.toContain(token)
  })

  test.each([
    ['without SASL', ['NICK me', 'USER me 0 * :me']],
    ['with the token as a server password', ['PASS secret', 'NICK me', 'USER me 0 * :me']],
  ])('%s is refused', async (_how, lines) => {
    const connection = await raw()
    connection.send(...lines)
    await eventually(() => connection.isClosed())
    expect(connection.received()).toMatch(/^ERROR :/)
  })

  test('is limited per address', async () => {
    const tries: string[] = []
    for (let n = 0; n < 5; n++) {
      const connection = await raw(otherPort)
      connection.send('CAP REQ :sasl', 'AUTHENTICATE PLAIN', `AUTHENTICATE ${plain('alice', 'x')}`)
      await connection.until(/ 904 .*\r\n/)
      tries.push(/too many/.test(connection.received()) ? 'limited' : 'refused')
    }
    expect(tries.filter((each) => each === 'limited').length).toBeGreaterThan(0)
    expect(tries.filter((each) => each === 'refused').length).toBeGreaterThan(0)
  })
})

describe('a client', () => {
  test('cannot speak, change anything or see others', async () => {
    const [connection, client] = [await registered(), await joinAt(port)]
    const before = connection.received().length
    client.say('#announce', 'New torrent: spam')
    connection.send(
      'PRIVMSG #announce :spam',
      'PRIVMSG listener :spam',
      'NOTICE #announce :spam',
      'TOPIC #announce :spam',
    )
    connection.send(
      'MODE #announce +o me',
      'JOIN #other',
      'NICK announce',
      'KICK #announce listener',
      'WHO #announce',
      'NAMES #announce',
    )
    connection.send('WHOIS listener', 'LIST', 'USER x 0 * :x', 'AUTHENTICATE PLAIN', 'PING :end')
    await connection.until(/PONG tracker\.test :end/)
    const codes = connection
      .received()
      .slice(before)
      .match(/(?<=^:tracker\.test )\d{3}/gm)
    expect(codes).toEqual([
      '404',
      '401',
      '482',
      '482',
      '403',
      '433',
      '421',
      '352',
      '315',
      '353',
      '366',
      '421',
      '421',
      '462',
      '907',
    ])
    expect(connection.received()).not.toContain('listener!')
    await eventually(() => client.refusals.length > 0)
    expect(client.lines).toEqual([])
  })

  test('may leave the channel and join it again', async () => {
    const [connection, other] = [await registered(), await registered()]
    connection.send('PART #announce', 'PING :left')
    await connection.until(/:left/)
    await upload('Unheard.S01E01.720p.WEB')
    await other.until(/Unheard/)
    connection.send('JOIN #announce', 'PING :back')
    await connection.until(/:back/)
    await upload('Heard.S01E01.720p.WEB')
    await connection.until(/Heard\.S01E01/)
    expect(connection.received()).not.toContain('Unheard')
  })

  test.each(['\n', ':x\n', '@a \n'])('is disconnected when it sends only %j', async (line) => {
    const connection = await raw()
    connection.socket.write(line.repeat(200_000))
    await eventually(() => connection.isClosed())
    expect(connection.received()).toMatch(/^ERROR :Excess Flood/)
  })

  test.each<[string, (connection: RawIrc) => void, RegExp]>([
    ['sends too many messages', (c) => c.send(...Array.from({ length: 100 }, () => 'PING :x')), /Excess Flood/],
    ['sends a line without an end', (c) => c.socket.write('x'.repeat(20_000)), /too long/],
    ['quits', (c) => c.send('QUIT'), /Goodbye/],
  ])('is disconnected when it %s', async (_what, act, reason) => {
    const connection = await registered()
    act(connection)
    await eventually(() => connection.isClosed())
    expect(connection.received()).toMatch(reason)
  })

  test('is answered 417 for a long line, and goes on', async () => {
    const connection = await registered()
    connection.send(`PING :${'x'.repeat(600)}`, `@tag=${'x'.repeat(4_000)} PING :short`)
    await connection.until(/ 417 .*\r\n(.*\r\n)*.*:short/)
  })

  test('is disconnected when it does not register, or stays silent', async () => {
    const silent = await registered()
    const idle = await raw()
    idle.send('NICK me')
    const lively = await registered()
    tracker.advance(91_000)
    await tracker.context.irc?.sweep()
    await lively.until(/^PING /m)
    lively.send('PONG :tracker.test', 'PING :heard')
    await lively.until(/:heard/)
    tracker.advance(91_000)
    await tracker.context.irc?.sweep()
    await eventually(() => silent.isClosed() && idle.isClosed())
    expect(lively.isClosed()).toBe(false)
  })

  test('is one of at most five of its user, and 20 of its address', async () => {
    const all: RawIrc[] = []
    for (let n = 0; n < 6; n++) all.push(await registered())
    await eventually(() => all[0]?.isClosed() === true)
    expect(all.slice(1).some((each) => each.isClosed())).toBe(false)
    const more = await Promise.all(Array.from({ length: 16 }, () => raw()))
    await eventually(() => more.some((each) => each.isClosed()))
  })

  test('that does not read is disconnected, and the others get every line', async () => {
    const [slow, reader] = [await registered(), await registered()]
    slow.socket.pause()
    const open = () => metricOf(tracker, 'tracker_irc_connections')
    const torrent = {
      ...{ id: randomUUID(), infoHash: '0'.repeat(40), name: 'x'.repeat(200), category: 'tv-hd', size: 1, files: 1 },
      ...{ uploader: null, internal: false, scene: false, downloadPercent: 100, uploadPercent: 100 },
      created: new Date(0),
    }
    const event = (id: number) => ({ id, torrent: { ...torrent, url: `http://tracker.test/${String(id)}` } })
    let announced = 0
    // The kernel takes megabytes before any of it is unread here.
    while ((await open()) === 2) {
      tracker.context.irc?.announce(Array.from({ length: 100 }, () => event((announced += 1))))
      await eventually(() => reader.received().endsWith(`/${String(announced)}\r\n`))
    }
    expect(reader.received().match(/New torrent: /g)).toHaveLength(announced)
    expect(await open()).toBe(1)
  })

  test('is disconnected when its token is revoked', async () => {
    const { id, token: password } = await createToken(alice.client, ['read'])
    const connection = await registered(password)
    await tracker.context.irc?.sweep()
    expect(connection.isClosed()).toBe(false)
    await alice.client.delete(`/api/tokens/${id}`)
    await eventually(() => connection.isClosed())
  })

  test('is disconnected at once when its account is banned', async () => {
    const eve = await createMember(tracker, 'eve')
    const { token: password } = await createToken(eve.client, ['read'])
    const client = await joinAt(port, { account: 'EVE', password })
    await staff.patch(`/api/admin/users/${eve.id}`, { state: 'banned', reason: 'spam' })
    await eventually(async () => (await metricOf(tracker, 'tracker_irc_connections')) === 0)
    expect(client.joins()).toBe(1)
  })
})

test('with a certificate, connections are encrypted and reach the same channel', async () => {
  const folder = temporaryFolder('irc-tls')
  const tlsPort = await freePort()
  const encrypted = await tracker.replica({
    IRC_PORT: String(tlsPort),
    ...makeCertificate(folder),
    IRC_URL: 'ircs://irc.test',
  })
  const client = await joinIrc({ port: tlsPort, tls: true }, { account: 'alice', password: token })
  const plainText = await raw(tlsPort)
  plainText.send('NICK me')
  await eventually(() => plainText.isClosed())
  await upload('Encrypted.S01E01.720p.WEB')
  await eventually(() => client.lines.length === 1)
  const { text } = await encrypted.client().get('/autobrr.yaml')
  expect(parse(text)).toMatchObject({ irc: { server: 'irc.test', port: 6697, tls: true } })
  client.quit()
  await encrypted.stop()
  removeTemporaryFolder(folder)
})

test('connections without a TLS handshake count for their address', async () => {
  const folder = temporaryFolder('irc-silent')
  const silentPort = await freePort()
  const encrypted = await tracker.replica({ IRC_PORT: String(silentPort), ...makeCertificate(folder) })
  const all: RawIrc[] = []
  for (let n = 0; n < 30; n++) all.push(await raw(silentPort))
  await eventually(() => all.slice(20).every((each) => each.isClosed()))
  expect(all.slice(0, 20).some((each) => each.isClosed())).toBe(false)
  all[0]?.socket.destroy()
  await eventually(async () => (await metricOf(encrypted, 'tracker_irc_connections')) === 19)
  const client = await joinIrc({ port: silentPort, tls: true }, { account: 'alice', password: token })
  client.quit()
  await encrypted.stop()
  removeTemporaryFolder(folder)
})

test('the definition for autobrr names this site and its listener', async () => {
  const { status, text, headers } = await tracker.client().get('/autobrr.yaml')
  expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml'])
  const lines = [{ pattern: LINE_PATTERN, vars: LINE_FIELDS }]
  const irc = { server: 'tracker.test', port, tls: false, channels: ['#announce'], parse: { type: 'single', lines } }
  expect(parse(text)).toMatchObject({ name: 'The "Site": #1', identifier: 'trackertest', irc })
  const { json } = await tracker.client().get('/api/site')
  expect(json).toMatchObject({ irc: { host: 'tracker.test', port, tls: false, channel: '#announce' } })
})
