// The program of `infra/smoke`: tests the main job of both services from outside, against running containers.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { eventually } from '../testing/eventually.ts'
import { answersReady } from '../world/services.ts'
import type { Check } from './check.ts'
import { checkTracker } from './tracker.ts'
import { checkVault } from './vault.ts'

const [compose = '', ...first] =
  spawnSync('docker', ['compose', 'version']).status === 0 ? ['docker', 'compose'] : ['docker-compose']

const exec: Check['exec'] = (service, program, input = '') => {
  const ended = spawnSync(compose, [...first, 'exec', '-T', service, ...program], { input, encoding: 'utf8' })
  if (ended.status === 0) return ended.stdout
  const why = ended.error?.message ?? `${ended.stderr}${ended.stdout}`.trim()
  throw new Error(`${program.slice(0, 3).join(' ')} … in the container of ${service} failed: ${why}`)
}

// Like Compose: the environment first, then `.env`.
if (existsSync('.env')) process.loadEnvFile('.env')
const runId = `smoke-${randomBytes(4).toString('hex')}`
const undone: { what: string; undo: () => unknown }[] = []
let failures = 0

async function attempt(failure: string, work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    failures += 1
    console.log(`FAIL  ${failure}: ${reasonOf(error)}`)
  }
}

/** An error as one line. Errors of fetch have the reason in their cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}

for (const [name, port, check] of [
  ['vault', 4200, checkVault],
  ['tracker', 6969, checkTracker],
] as const)
  await attempt(name, async () => {
    const variable = name.toUpperCase()
    // The port may be a range, such as 4200-4203.
    const published = /^\d+/.exec(process.env[`${variable}_PORT`] ?? '')?.[0] ?? String(port)
    const url = process.env[`${variable}_URL`] ?? `http://localhost:${published}`
    await eventually(() => answersReady(url)).catch((cause: unknown) => {
      throw new Error(`${url}/ready did not answer 200 within a minute`, { cause })
    })
    const ok = (fact: string): void => console.log(`ok    ${name}: ${fact}`)
    await check({ url, runId, exec, ok, later: (what, undo) => void undone.push({ what, undo }) })
  })
for (const { what, undo } of undone.reverse()) await attempt(`could not remove ${what}`, undo)
console.log(failures === 0 ? 'Both services work.' : 'The services do not work correctly.')
process.exitCode = failures === 0 ? 0 : 1
