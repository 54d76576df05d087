import { Agent, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TRIALS } from '@vault-and-tracker/dev-env'
import { Choices } from './support/choices.ts'
import { createProject, type Key } from './support/client.ts'
import { DAMAGE, meaning } from './support/damage.ts'
import { draft, signed, type Wire, WRONG_DRAFTS } from './support/signed-drafts.ts'
import { startVault, type TestVault } from './support/vault.ts'

const CASES = 3_000 * TRIALS
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121)
const IN_FLIGHT = 16

let vault: TestVault
let key: Key
let host: string
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  host = new URL(vault.url).host
})
afterAll(async () => {
  agent.destroy()
  await vault.stop()
})

function sendWire(wire: Wire): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = wire.headers.flat()
    if (wire.body !== '') headers.push('Content-Length', String(Buffer.byteLength(wire.body)))
    const { hostname, port } = new URL(vault.url)
    const outgoing = httpRequest(
      { agent, host: hostname, port, method: wire.method, path: wire.path, headers, setHost: false },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(wire.body)
  })
}

/** A case based on a number, which reproduces a failure. */
async function runCase(seed: number): Promise<{ kind: string; status: number; wire: Wire }> {
  const choose = new Choices(seed)
  const message = draft(choose, key, host)
  const roll = choose.below(100)
  if (roll < 2) {
    const wire = signed(message)
    return { kind: 'valid', status: await sendWire(wire), wire }
  }
  if (roll < 5) {
    const wire = signed(message)
    await sendWire(wire)
    return { kind: 'replay', status: await sendWire(wire), wire }
  }
  if (roll < 40) {
    choose.of(WRONG_DRAFTS)(message, choose)
    const wire = signed(message)
    return { kind: 'wrong', status: await sendWire(wire), wire }
  }
  const wire = signed(message)
  const intact = meaning(wire)
  for (let times = 1 + choose.below(2); times > 0; times--) choose.of(DAMAGE)(wire, choose)
  // The second damage may have undone the first.
  if (meaning(wire) === intact) wire.headers.splice(1, 1)
  return { kind: 'damaged', status: await sendWire(wire), wire }
}

test(`${String(CASES)} mutations of a signed request are refused (seed ${String(SEED)})`, async () => {
  const failures: string[] = []
  const counts = new Map<string, number>()
  let next = 0
  const worker = async () => {
    for (let i = next++; i < CASES; i = next++) {
      const { kind, status, wire } = await runCase(SEED + i)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const good = kind === 'valid' ? status === 200 : status >= 400 && status < 500
      if (!good) failures.push(`FUZZ_SEED=${String(SEED + i)} ${kind} gave ${String(status)}: ${JSON.stringify(wire)}`)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  expect(failures).toEqual([])
  // All kinds occurred; without valid requests, a vault that refuses everything would pass.
  if (CASES >= 1_000) expect([...counts.keys()].toSorted()).toEqual(['damaged', 'replay', 'valid', 'wrong'])
}, 600_000)
