import { expect, test } from '@jest/globals'
import { parseRedisUrl, redisUrlProblem } from './url.ts'

test.each([
  ['redis://redis', { host: 'redis', port: 6379, db: 0 }],
  ['redis://:p%40ss@127.0.0.1:6380/3', { host: '127.0.0.1', port: 6380, db: 3, username: '', password: 'p@ss' }],
  ['redis://[::1]:6380', { host: '::1', port: 6380, db: 0 }],
  [
    'rediss://app:a@b:c@redis.example/',
    { host: 'redis.example', port: 6379, db: 0, username: 'app', password: 'a@b:c', tls: {} },
  ],
])('%s names one Redis', (url, options) => {
  expect(parseRedisUrl(url)).toEqual(options)
})

test('several sentinels, a master and a database', () => {
  const url = 'redis+sentinel://app:secret@one:26380,[::1],two/main/2?sentinel_username=s&sentinel_password=p%26q'
  expect(parseRedisUrl(url)).toMatchObject({
    ...{ username: 'app', password: 'secret', db: 2, name: 'main' },
    sentinels: [
      { host: 'one', port: 26_380 },
      { host: '::1', port: 26_379 },
      { host: 'two', port: 26_379 },
    ],
    ...{ sentinelUsername: 's', sentinelPassword: 'p&q' },
  })
  expect(parseRedisUrl(url)).not.toHaveProperty('tls')
})

test('TLS with Sentinel is for Redis and the sentinels', () => {
  const ca = new URL('./url.ts', import.meta.url).pathname
  const options = parseRedisUrl(`rediss+sentinel://one/main?ssl_ca_certs=${encodeURIComponent(ca)}`)
  expect(options).toMatchObject({ enableTLSForSentinelMode: true, sentinelTLS: { ca: expect.any(Buffer) } })
  expect(options.tls).toEqual(options.sentinelTLS)
})

test.each([
  ['http://secret@redis'],
  ['redis://'],
  ['redis://secret@one,two'],
  ['redis://secret@redis:70000'],
  ['redis://%zz@redis'],
  ['redis://:secret@redis/secret'],
  ['redis://:secret@redis/1/2'],
  ['redis://:secret@redis?ssl_ca_certs=/secret'],
  ['rediss://:secret@redis?ssl_ca_certs=/no/such/secret'],
  ['redis://:secret@redis?sentinel_password=secret'],
  ['redis://:secret@redis?secret=1'],
  ['redis+sentinel://:secret@one,two'],
  ['redis+sentinel://:secret@one,,two/main'],
  ['redis+sentinel://:secret@one/main/secret'],
])('%s is refused without repeating it', (url) => {
  expect(redisUrlProblem(url)).toMatch(/^(?!.*secret)(must be|may only have|needs|names) /)
})
