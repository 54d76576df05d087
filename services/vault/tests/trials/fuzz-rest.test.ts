import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TRIALS } from '@vault-and-tracker/dev-env'
import { type FuzzedRequest, fuzzedRequests, problemOf, sendFuzzed } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import { describeApi } from '../../src/app.ts'
import { createProject, type Key, send, signHeaders } from '../support/client.ts'
import { requireDocumented } from '../support/documented.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from '../support/vault.ts'

const CASES = 600 * TRIALS
/** Much longer than necessary on any machine. */
const LIMIT_MS = 200_000 + CASES * 350
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122)

let vault: TestVault
let key: Key
/** Whether the project may have been deleted, or its key replaced. */
let isChanged = true
const agent = new Agent({ keepAlive: true })

beforeAll(async () => {
  vault = await startVault()
  // Also stores the audit entries of refused requests.
  vault.context.background.start()
})

afterAll(async () => {
  agent.destroy()
  await vault.stop()
})

async function signing(request: FuzzedRequest): Promise<Readonly<Record<string, string>>> {
  const created = Math.floor(Date.now() / 1000)
  const url = vault.url + request.target
  return signHeaders({ ...{ project: 'shop', key, created, url }, method: request.method })
}

async function tryOut(request: FuzzedRequest, isAuthentic: boolean): Promise<void> {
  await restoreProject()
  const own = isAuthentic ? await ownHeaders(request) : {}
  const answer = await sendFuzzed(vault.url, request, own, agent)
  if (request.method !== 'GET' && request.target.startsWith('/v1/admin')) isChanged = true
  const problem = problemOf(answer)
  if (problem !== undefined) throw new Error(`${problem}: ${answer.text.slice(0, 300)}`)
  const [path = ''] = request.target.split('?')
  if (!path.startsWith('/v1/')) return
  const body: unknown = answer.text === '' ? undefined : JSON.parse(answer.text)
  requireDocumented(request.method, vault.url + path, { status: answer.status, body })
}

async function ownHeaders(request: FuzzedRequest): Promise<Readonly<Record<string, string>>> {
  const isAdmin = request.target.startsWith('/v1/admin')
  if (isAdmin) return { authorization: `Bearer ${ADMIN_TOKEN}` }
  return request.target.startsWith('/v1/') ? signing(request) : {}
}

async function restoreProject(): Promise<void> {
  if (!isChanged) return
  isChanged = false
  const authorization = `Bearer ${ADMIN_TOKEN}`
  await send(`${vault.url}/v1/admin/projects/shop`, { method: 'DELETE', headers: { authorization } })
  key = await createProject(vault.url, 'shop')
}

test(
  `${String(CASES)} malformed requests for every operation break nothing (seed ${String(SEED)})`,
  async () => {
    const requests = fuzzedRequests({
      document: describeApi(),
      ids: fc.constantFrom('shop', 'shop', 'other', '0190b6a0-0000-7000-8000-000000000000', '%00', 'x'.repeat(8_000)),
      files: fc.constant(Buffer.alloc(0)),
      headers: ['signature', 'signature-input', 'signature-agent', 'content-digest', 'x-forwarded-host'],
    })
    const authentic = fc.oneof(
      { arbitrary: fc.constant(true), weight: 4 },
      { arbitrary: fc.constant(false), weight: 1 },
    )
    await fc.assert(fc.asyncProperty(requests, authentic, tryOut), {
      numRuns: CASES,
      seed: SEED,
      plugins: [fc.interruptAfterTimeLimit(LIMIT_MS, { failOnInterrupt: true })],
    })
    await vault.context.background.stop()
    expect((await send(`${vault.url}/ready`)).status).toBe(200)
    expect(
      (
        await send(`${vault.url}/v1/admin/audit?action=refused`, {
          headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        })
      ).body,
    ).not.toEqual([])
    expect(vault.logged()).not.toMatch(/"level":[56]0/)
  },
  LIMIT_MS + 100_000,
)
