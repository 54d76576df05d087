import { expect, test } from '@jest/globals'
import { peer, swarmName } from './support/swarm-peers.ts'
import { openSwarms } from './support/swarm-world.ts'

const { redis, swarms, pass } = await openSwarms()

test('a swarm that has lost a key does not affect other announces, and fills again', async () => {
  const other = swarmName(0xa8)
  for (let n = 1; n <= 20; n++) await swarms.announce(peer(n))
  await redis.del(Buffer.concat([Buffer.from('{a7}:i:'), swarmName(0xa7)]))
  const stops = [1, 2, 3].map((n) => swarms.announce(peer(n, { kind: 'stopped', state: 'stopped' })))
  await expect(Promise.all([...stops, swarms.announce(peer(9, { swarm: other }))])).resolves.toHaveLength(4)
  for (let n = 1; n <= 20; n++) await swarms.announce(peer(n, { kind: 'regular' }))
  await expect(swarms.count([{ name: swarmName(0xa7), completed: 0 }])).resolves.toMatchObject([{ incomplete: 20 }])
})

test('a sweep continues after a damaged swarm', async () => {
  for (const byte of [0xb0, 0xb1])
    for (let n = 1; n <= 20; n++) await swarms.announce(peer(n, { swarm: swarmName(byte) }))
  await redis.del(Buffer.concat([Buffer.from('{b0}:i:'), swarmName(0xb0)]))
  pass(10_000)
  await swarms.sweep()
  expect(await redis.exists(Buffer.concat([Buffer.from('{b1}:s:'), swarmName(0xb1)]))).toBe(0)
})
