import { expect, test } from '@jest/globals'
import { createWaitingClients, placeOf } from './waiting.ts'

const gone = undefined

test('bounds the clients of a project and all clients, and reuses every freed place', () => {
  const clients = createWaitingClients({ perProject: 2, total: 3 })
  const enter = (projectUid: string) => clients.enter({ projectUid, env: 'production', gone })
  const first = enter('one')
  enter('one')
  expect(() => enter('one')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  const other = enter('other')
  expect(() => enter('other')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  first.leave()
  first.leave()
  expect(clients.count()).toBe(2)
  enter('other')
  other.leave()
  enter('one')
  expect(clients.count()).toBe(3)
})

test('a change before the wait is not lost, and wakes once', async () => {
  const clients = createWaitingClients({ perProject: 2, total: 3 })
  const waiter = clients.enter({ projectUid: 'one', env: 'production', gone })
  clients.wakeAll()
  expect(await waiter.next(60_000)).toBe('woken')
  expect(await waiter.next(0)).toBe('over')
})

test('changes at about the same time wake a client once', async () => {
  const clients = createWaitingClients({ perProject: 2, total: 3 })
  const waiter = clients.enter({ projectUid: 'one', env: 'production', gone })
  for (let n = 0; n < 5; n++) clients.wake(placeOf('one', 'production'))
  clients.wake(placeOf('one', 'staging'))
  expect(await waiter.next(60_000)).toBe('woken')
  expect(await waiter.next(150)).toBe('over')
})

test('the time of a client that disconnects, and of all clients after a stop, is over', async () => {
  const clients = createWaitingClients({ perProject: 2, total: 3 })
  const leaving = new AbortController()
  const waiter = clients.enter({ projectUid: 'one', env: 'production', gone: leaving.signal })
  const ended = waiter.next(60_000)
  leaving.abort()
  expect(await ended).toBe('over')
  clients.wakeAll()
  expect(await waiter.next(60_000)).toBe('over')
  const other = clients.enter({ projectUid: 'one', env: 'production', gone })
  const stopped = other.next(60_000)
  clients.stop()
  expect(await stopped).toBe('over')
  expect(await other.next(60_000)).toBe('over')
})
