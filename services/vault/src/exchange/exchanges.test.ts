import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createExchanges } from './exchanges.ts'
import type { RuleOfProject } from './trust-rules.ts'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const FETCHED = new Error('the keys of another issuer were wanted')

test('an issuer that hangs does not keep the tokens of others waiting', async () => {
  const rule = { algorithms: ['RS256'] } as unknown as RuleOfProject
  const exchanges = createExchanges({
    trustRules: { find: () => Promise.resolve(rule), findAll: () => Promise.resolve([rule]) },
    issuerKeys: {
      get: (issuer) => (issuer === 'hangs' ? new Promise<never>(() => undefined) : Promise.reject(FETCHED)),
      renew: () => Promise.resolve(undefined),
    },
    nonces: { now: Date.now } as never,
    ...{ store: {} as never, rows: {} as never, inTurn: {} as never, clock: { now: Date.now } },
  })
  const publicKey = generateKeyPair().publicKeyHex
  const exchange = (iss: string, client: string) =>
    exchanges.exchange({
      ...{ idToken: `${encode({ alg: 'RS256' })}.${encode({ iss })}.AA`, publicKey },
      ...{ project: undefined, rule: undefined },
      by: { kind: 'exchanger', address: client, client, wanted: undefined },
    })
  const refused: unknown[] = []
  for (let i = 0; i < 500; i++)
    exchange('hangs', `client ${String(i % 25)}`).catch((error: unknown) => refused.push(error))
  await setImmediate()
  await expect(exchange('answers', 'another client')).rejects.toBe(FETCHED)
  expect(refused.length).toBeLessThan(500)
})
