import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, test } from '@jest/globals'
import { eventually, testRedis } from '@vault-and-tracker/dev-env'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { Redis } from 'ioredis'
import { subscribeToInvalidations } from '../src/invalidation/invalidation.redis.ts'
import { invalidationChannel } from '../src/invalidation/invalidation.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
let direct: string
let publisher: Redis
let line: Server
/** The ends of every connection through the line. */
const through: Socket[] = []

beforeAll(async () => {
  direct = (await testRedis()).url
  publisher = new Redis(direct)
  const { hostname, port } = new URL(direct)
  line = createServer((socket) => {
    const far = connect(Number(port || '6379'), hostname)
    for (const end of [socket, far]) end.on('error', () => undefined)
    socket.pipe(far).pipe(socket)
    through.push(socket, far)
  })
  line.listen(0, '127.0.0.1')
  await once(line, 'listening')
})

afterAll(async () => {
  for (const end of through) end.destroy()
  line.close()
  await publisher.quit()
})

/** Cuts every connection as a firewall does that drops it: neither end gets an error, and nothing comes through. */
function silence(): void {
  for (const end of through) {
    end.unpipe()
    end.pause()
  }
}

test('replaces a silent connection and reports that messages were missed', async () => {
  const address = line.address()
  if (address === null || typeof address === 'string') throw new Error('the line has no port')
  const heard: string[] = []
  let missed = 0
  const url = new URL(direct)
  url.host = `127.0.0.1:${String(address.port)}`
  const subscription = await subscribeToInvalidations({
    url: url.href,
    logger,
    heartbeatMs: 200,
    onChange: (change) => heard.push(change.kind),
    onMissed: () => (missed += 1),
  })
  try {
    silence()
    await eventually(() => missed > 0)
    // A client that revalidates must get the newer entries.
    await publisher.publish(invalidationChannel(publisher.options.db ?? 0), '{"kind":"site-settings"}')
    await eventually(() => heard.includes('site-settings'))
  } finally {
    subscription.close()
  }
})
