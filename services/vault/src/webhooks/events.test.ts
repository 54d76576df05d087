import { expect, test } from '@jest/globals'
import type { Action, NewEntry } from '../audit/audit.ts'
import { keyEvent, payloadOf, secretEvent } from './events.ts'

const entry = (action: Action): NewEntry => ({
  ...{ id: 'entry', action, env: 'production', address: '192.0.2.1', actor: 'administrator' },
  requestedAt: new Date('2026-11-24T12:00:00.000Z'),
  detail: { name: 'ci', fingerprint: 'f00d', publicKey: 'abcd', generation: 3 },
})

test('an event contains only names and versions of its audit entry', () => {
  const put = secretEvent('shop', entry('put'), [{ key: 'A', version: 2 }])
  expect(put && JSON.parse(payloadOf('id', put))).toEqual({
    ...{ id: 'id', event: 'secret.put', project: 'shop', env: 'production', actor: 'administrator' },
    ...{ secrets: [{ key: 'A', version: 2 }], at: '2026-11-24T12:00:00.000Z' },
  })
  const added = keyEvent('shop', entry('key.add'))
  expect(added && JSON.parse(payloadOf('id', added))).toEqual({
    ...{ id: 'id', event: 'key.added', project: 'shop', actor: 'administrator' },
    ...{ key: { name: 'ci', fingerprint: 'f00d' }, at: '2026-11-24T12:00:00.000Z' },
  })
})

test('other changes are not events', () => {
  expect(keyEvent('shop', entry('project.update'))).toBeUndefined()
})

test('an event lists at most 500 secrets, and counts the others', () => {
  const secrets = Array.from({ length: 510 }, (_, n) => ({ key: `KEY_${String(n)}`, version: 1 }))
  const event = secretEvent('shop', entry('put'), secrets)
  expect(event?.members['secrets']).toHaveLength(500)
  expect(event?.members).toHaveProperty('omitted', 10)
})
