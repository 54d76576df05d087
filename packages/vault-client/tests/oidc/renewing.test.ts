import { expect, test } from '@jest/globals'
import type { ExchangedKey } from '../../src/index.ts'
import { renewing } from '../../src/oidc/exchanged-settings.ts'

const key = (privateKey: string, end: number): ExchangedKey => ({
  ...{ project: 'shop', privateKey, publicKey: '', expiresAt: new Date(end) },
  scope: { access: 'read', envs: null },
})

test('a key is replaced before its end, and used until its end if that fails', async () => {
  let now = 0
  let renewals = 0
  let isAvailable = true
  const renew = () => {
    renewals += 1
    return isAvailable
      ? Promise.resolve(key(`key ${String(renewals)}`, now + 1_000))
      : Promise.reject(new Error('no token'))
  }
  const current = renewing(key('first', 1_000), renew, () => now)
  now = 799
  expect([await current(), renewals]).toEqual(['first', 0])
  now = 800
  expect([await current(), renewals]).toEqual(['key 1', 1])
  isAvailable = false
  now = 1_700
  expect([await current(), renewals]).toEqual(['key 1', 2])
  now = 1_800
  await expect(current()).rejects.toThrow('no token')
  isAvailable = true
  expect(await current()).toBe('key 4')
})
