import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, send, signedSend, statusAndError } from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { startVault, type TestVault } from './support/vault.ts'

const PEOPLE = ['dana', 'erin', 'finn', 'gina', 'hugo'] as const
const LEAVER = 'dana'
const AUDIENCE = 'https://vault.example.org'
/** How often each of them fetches and stores in a phase. */
const ROUNDS = 6

type Phase = 'before' | 'during' | 'after'
type Member = { readonly name: string; readonly key: Key; readonly done: Record<Phase, number> }

let issuer: OidcIssuer
let replicas: readonly [TestVault, TestVault]

beforeAll(async () => {
  issuer = await startOidcIssuer()
  const vault = await startVault({ OIDC_ALLOW_LOOPBACK: 'true' })
  replicas = [vault, await vault.replica()]
})
afterAll(async () => {
  for (const vault of replicas.toReversed()) await vault.stop()
  await issuer.stop()
})

const at = (round: number): string => replicas[round % 2 === 0 ? 0 : 1].url

const request = ({ key }: Pick<Member, 'key'>, round: number, method = 'GET', body?: object, path = '') =>
  signedSend({ project: 'shop', key, method, url: `${at(round)}/v1/secrets${path}`, body })

/** A key for an ID token of CI. */
async function exchange(round: number): Promise<Key> {
  const key = newKey()
  const { status } = await send(`${at(round)}/v1/keys/exchange`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ idToken: await issuer.sign({ aud: AUDIENCE }), publicKey: key.publicKeyHex }),
  })
  expect(status).toBe(201)
  return key
}

/** Fetches and stores in turns, at both replicas. All requests have to be answered as usual. */
async function work(member: Member, phase: Phase): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const value = `${phase}-${String(round)}`
    const put = await request(member, round, 'PUT', { key: `OF_${member.name}`, value, env: 'production' })
    expect([put.status, put.body]).toEqual([200, { ok: true }])
    const fetched = await request(member, round + 1)
    expect([fetched.status, fetched.body]).toEqual([200, expect.objectContaining({ [`OF_${member.name}`]: value })])
    member.done[phase] += 1
  }
}

test('one of five people leaves a project that CI also uses, and no one else notices', async () => {
  const defaultKey = await createProject(at(0), 'shop')
  const people: Member[] = []
  for (const [i, name] of PEOPLE.entries()) {
    const key = newKey()
    const added = await admin(at(i), 'POST', '/projects/shop/keys', { name, publicKey: key.publicKeyHex })
    expect(added.status).toBe(201)
    people.push({ name, key, done: { before: 0, during: 0, after: 0 } })
  }
  const rule = { name: 'ci', issuer: issuer.url, audience: AUDIENCE, claims: { sub: 'repo:octo-org/shop:*' } }
  const scope = { access: 'read-write', envs: ['production'] }
  expect((await admin(at(1), 'POST', '/projects/shop/trust-rules', { ...rule, scope })).status).toBe(201)
  const ci: Member = { name: 'ci', key: await exchange(0), done: { before: 0, during: 0, after: 0 } }
  const leaver = people.find(({ name }) => name === LEAVER)
  if (leaver === undefined) throw new Error(`${LEAVER} is not one of them`)
  const others = [...people.filter((member) => member !== leaver), ci]

  await Promise.all([leaver, ...others].map((member) => work(member, 'before')))

  // Clients that wait at both replicas while the key is revoked.
  await request({ key: defaultKey }, 0, 'PUT', { key: 'QUIET', value: '1', env: 'staging' })
  const { body } = await request({ key: defaultKey }, 0, 'GET', undefined, '/changes?env=staging')
  const since = (body as { version: string }).version
  const waiting = [0, 1].map((round) =>
    request({ key: defaultKey }, round, 'GET', undefined, `/changes?env=staging&wait=30&since=${since}`),
  )
  const leaverWaits = request(leaver, 1, 'GET', undefined, `/changes?env=staging&wait=30&since=${since}`)

  const revoke = async (): Promise<void> => {
    const keys = (await admin(at(0), 'GET', '/projects/shop/keys')).body as { name: string; fingerprint: string }[]
    const fingerprint = keys.find(({ name }) => name === LEAVER)?.fingerprint ?? ''
    expect((await admin(at(0), 'DELETE', `/projects/shop/keys/${fingerprint}`)).status).toBe(200)
    for (const round of [0, 1]) expect(statusAndError(await request(leaver, round))).toEqual([401, 'invalid_signature'])
  }
  await Promise.all([...others.map((member) => work(member, 'during')), revoke()])

  await Promise.all(others.map((member) => work(member, 'after')))
  // A new job gets a key as before.
  await work({ ...ci, key: await exchange(1) }, 'after')
  for (const round of [0, 1]) {
    expect(statusAndError(await request(leaver, round))).toEqual([401, 'invalid_signature'])
    const write = await request(leaver, round, 'PUT', { key: 'OF_dana', value: 'later', env: 'production' })
    expect(statusAndError(write)).toEqual([401, 'invalid_signature'])
  }

  await request({ key: defaultKey }, 1, 'PUT', { key: 'QUIET', value: '2', env: 'staging' })
  for (const answer of await Promise.all(waiting)) expect(answer.body).toMatchObject({ changed: ['QUIET'] })
  expect(statusAndError(await leaverWaits)).toEqual([401, 'invalid_signature'])

  // The audit log names each of them for each of their requests.
  for (const member of [leaver, ...others]) {
    const listed = await admin(at(1), 'GET', `/audit?action=all&limit=1000&keyName=${member.name}`)
    const entries = listed.body as { action: string; keyName: string }[]
    const count = (action: string): number => entries.filter((entry) => entry.action === action).length
    const { before, during } = member.done
    const expected = member === leaver ? before : before + during + (member === ci ? 2 : 1) * ROUNDS
    expect({ name: member.name, put: count('put'), fetch: count('fetch') }).toEqual({
      ...{ name: member.name, put: expected, fetch: expected },
    })
  }
  const fetched = (await request({ key: defaultKey }, 0)).body
  expect(fetched).toMatchObject({ OF_dana: `before-${String(ROUNDS - 1)}`, OF_ci: `after-${String(ROUNDS - 1)}` })
  const counted = await Promise.all(replicas.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
  for (const metrics of counted) expect(metrics).toMatch(/^vault_ended_key_requests_total\{state="revoked"\} [1-9]/m)
})
