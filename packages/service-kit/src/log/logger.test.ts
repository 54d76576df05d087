import { expect, test } from '@jest/globals'
import { createLogger, hideSecrets } from './logger.ts'

const PASSKEY = '0123456789abcdef0123456789abcdef01234567'

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let lines = ''
  write(createLogger({ name: 'test', level: 'trace', destination: { write: (line) => void (lines += line) } }))
  return lines
}

test('a line is one JSON object with time, level, name and message', () => {
  const entry = JSON.parse(logged((logger) => logger.info({ port: 1 }, 'up'))) as Record<string, unknown>
  expect(entry).toMatchObject({ name: 'test', level: 30, msg: 'up', port: 1 })
  expect(new Date(String(entry['time'])).toISOString()).toBe(entry['time'])
})

test.each([
  ['authorization'],
  ['proxy-authorization'],
  ['cookie'],
  ['set-cookie'],
  ['signature'],
  ['signature-input'],
  ['signature-agent'],
  ['x-api-key'],
])('the header %s is hidden wherever headers are logged', (header) => {
  const headers = { [header]: 'canary', host: 'kept' }
  const line = logged((logger) => {
    logger.info({ headers })
    logger.info({ req: { headers } })
    logger.info({ res: { headers } })
  })
  expect(line).not.toContain('canary')
  expect(line.match(/kept/g)).toHaveLength(3)
})

test.each(['apikey', 'passkey', 'password', 'privateKey', 'token', 'adminToken', 'value', 'secret', 'email'])(
  'the member %s is hidden, at the top and one level down',
  (member) => {
    const line = logged((logger) => logger.info({ [member]: 'canary', user: { [member]: 'canary' } }))
    expect(line).not.toContain('canary')
  },
)

test.each([
  [`GET /announce?passkey=${PASSKEY}&info_hash=x`],
  [`GET /announce?info_hash=x&PassKey=${PASSKEY}`],
  [`GET /api/torznab?t=search&apikey=${PASSKEY}`],
  [`GET /announce/${PASSKEY}?info_hash=x`],
  [`GET /scrape/${PASSKEY.toUpperCase()}`],
  [`GET /${PASSKEY}/announce?info_hash=x`],
  [`connect passkey%3D${PASSKEY}`],
  [`Authorization: Bearer ${PASSKEY}`],
  [`GET /api/user?api_token=${PASSKEY}`],
  [`POST /api/torrents vtt_${PASSKEY}`],
  [`GET /api/torznab?x=vtt%5F${PASSKEY}`],
  [`cannot reach postgres://vault_app:${PASSKEY}@db/vault`],
  [`cannot reach redis://:${PASSKEY}@redis:6379`],
])('the secret in %j is hidden in messages and in error stacks', (text) => {
  const line = logged((logger) => {
    logger.info(text)
    logger.info({ url: text })
    logger.error({ err: new Error(text, { cause: new Error(text) }) })
  })
  expect(line.toLowerCase()).not.toContain(PASSKEY)
  expect(line).toContain('[hidden]')
})

test('an info hash outside a path stays readable', () => {
  expect(hideSecrets(`torrent ${PASSKEY} is new`)).toBe(`torrent ${PASSKEY} is new`)
  expect(hideSecrets(`GET /api/torrents/${PASSKEY}`)).toBe(`GET /api/torrents/${PASSKEY}`)
})

test('a line stays JSON after its secrets are hidden', () => {
  const line = logged((logger) => logger.info({ url: `/announce?passkey=${PASSKEY}` }, 'said "hello"'))
  expect(JSON.parse(line)).toMatchObject({ url: '/announce?passkey=[hidden]', msg: 'said "hello"' })
})

test('a Postgres error is logged without the row it repeats', () => {
  const error = Object.assign(new Error('duplicate key value'), {
    code: '23505',
    detail: 'Key (email)=(canary) already exists.',
    where: 'canary',
  })
  const line = logged((logger) => logger.error({ err: error }))
  expect(line).not.toContain('canary')
  expect(line).toContain('23505')
})

test('a thrown value that is not an error is logged by its type only', () => {
  expect(logged((logger) => logger.error({ err: 'canary' }))).not.toContain('canary')
})
