// What `infra/smoke` runs: the main job of both services, from outside, against running containers.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Check, reasonOf } from './check.ts'
import { createCompose } from './compose.ts'
import { checkTracker } from './tracker.ts'
import { checkVault } from './vault.ts'

// As Compose does: what the environment sets counts, and beneath it what `.env` says.
if (existsSync('.env')) process.loadEnvFile('.env')
const settings = process.env
const common = { settings, runId: `smoke-${randomBytes(4).toString('hex')}`, compose: createCompose(process.cwd()) }
const undone: { what: string; undo: () => unknown }[] = []
let failures = 0

async function check(name: string, url: string, work: (check: Check) => Promise<void>): Promise<void> {
  const ok = (fact: string): void => console.log(`ok    ${name}: ${fact}`)
  try {
    await work({ ...common, url, ok, later: (what, undo) => void undone.push({ what, undo }) })
  } catch (error) {
    failures += 1
    console.log(`FAIL  ${name}: ${reasonOf(error)}`)
  }
}

/** Of `4200`, or of a range as `4200-4203`. */
function firstPort(ports: string | undefined, fallback: number): string {
  return /^\d+/.exec(ports ?? '')?.[0] ?? String(fallback)
}

await check('vault', settings['VAULT_URL'] ?? `http://localhost:${firstPort(settings['VAULT_PORT'], 4200)}`, checkVault)
const trackerUrl = settings['TRACKER_URL'] ?? `http://localhost:${firstPort(settings['TRACKER_PORT'], 6969)}`
await check('tracker', trackerUrl, checkTracker)
for (const { what, undo } of undone.reverse()) {
  try {
    await undo()
  } catch (error) {
    failures += 1
    console.log(`FAIL  could not remove ${what}: ${reasonOf(error)}`)
  }
}
console.log(failures === 0 ? 'both services do their main job' : 'the containers do not work as they should')
process.exitCode = failures === 0 ? 0 : 1
