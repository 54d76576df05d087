import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { administratorsTakeTurns } from './admin-reads.ts'
import { adminEndpoint, endpoints } from './surface.ts'

test('administrators take turns to read, and changes do not wait', async () => {
  const ends: (() => void)[] = []
  const started: string[] = []
  const handle = ({ caller }: { caller: { actor: string } }) => {
    started.push(caller.actor)
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const shared = { ...adminEndpoint, path: '/v1/admin/lists', operationId: 'list', summary: 'List', answer: z.void() }
  const defined = [
    endpoints<object>()({ ...shared, method: 'GET', handle }),
    endpoints<object>()({ ...shared, method: 'PUT', handle }),
  ]
  const [read, change] = administratorsTakeTurns(defined)
  if (read === undefined || change === undefined) throw new Error('an endpoint is missing')
  const parse = ((_schema: unknown, value: unknown) => value) as never
  const input = (actor: string) => ({
    ...{ params: {}, query: {}, body: undefined, file: undefined },
    caller: { actor },
  })
  const all = ['a', 'a', 'b'].map((actor) => read.run(input(actor), {}, parse))
  for (let i = 0; i < 2; i++) all.push(change.run(input('writer'), {}, parse))
  await setImmediate()
  expect(started.toSorted()).toEqual(['a', 'b', 'writer', 'writer'])
  for (let i = 0; i < all.length; i++) {
    ends[i]?.()
    await setImmediate()
  }
  await Promise.all(all)
  expect(started.slice(4)).toEqual(['a'])
})
