// `pnpm --filter vault bench`: what a fetch costs, beside what its parts cost alone. One run, one machine, one table.
//
// BENCH_SECONDS (4) a measurement, BENCH_ROUNDS (3) of them, taken in turn; the table holds the median round of each
// line. BENCH_PROFILE=1 writes a CPU profile of the service into this folder instead.
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { growAround, growWithin } from './growth.ts'
import type { Duration, LoadJob, Result } from './job.ts'
import { pgbench } from './pgbench.ts'
import { cpuSeconds, measure, startConstant } from './processes.ts'
import { type Line, printTable } from './table.ts'
import { createProject, signedFetch, startServers, startVault } from './vault.ts'

const seconds = Number(process.env['BENCH_SECONDS'] ?? 4)
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const SECRETS = 20
/** A line of the table and how it is measured; undefined where a tool is not installed. */
type Measurement = [name: string, connections: number, run: () => Promise<Partial<Line> | undefined>]

const duration: Duration = { seconds, warmUpSeconds: 1 }

const servers = await startServers()
try {
  if (process.env['BENCH_PROFILE']) await profile()
  else await compare()
} finally {
  await servers.stop()
}

async function compare(): Promise<void> {
  const vault = await startVault(servers)
  const shop = await createProject(vault, 'shop', SECRETS)
  const several = [shop]
  for (let i = 1; i < 10; i++) several.push(await createProject(vault, `shop-${i}`, SECRETS))
  const body = (await (await signedFetch(vault, shop, 'GET')).json()) as object
  const constant = await startConstant(body)
  const [row] = await servers.sql<{ uid: string }>(`select uid from projects where name = 'shop'`)
  const caller = { projectUid: row?.uid ?? '', project: 'shop', publicKeyHex: shop.publicKeyHex, coversContent: false }
  const sql = { databaseUrl: servers.databaseUrl, caller, secrets: SECRETS }
  const fetchJob = { port: vault.port, path: '/v1/secrets', signers: [shop], perSecond: 6000 }
  const served = [16, 64].flatMap((connections): Measurement[] => [
    [`signed GET, ${SECRETS} secrets`, connections, () => load({ ...fetchJob, connections }, vault.pid)],
    [
      '(a) Express, constant of that size',
      connections,
      () => load({ port: constant.port, path: '/v1/secrets', connections }, constant.pid),
    ],
    [
      'signed GET, ten projects in turn',
      connections,
      () => load({ ...fetchJob, signers: several, connections }, vault.pid),
    ],
    [
      'GET /health of the vault',
      connections,
      () => load({ port: vault.port, path: '/health', connections }, vault.pid),
    ],
  ])
  const results = await inTurn(served)
  // Afterwards: the vault would seal the entries that these write.
  const parts = [16, 64].flatMap((connections): Measurement[] => [
    ['(b) its SQL, bare pg', connections, () => measure('sql', { ...sql, connections, ...duration })],
    ['(b) its SQL, pgbench', connections, () => pgbench({ ...sql, connections, seconds, folder: servers.folder })],
  ])
  const alone = await inTurn([...parts, ['(c) verify alone, one core', 1, () => measure('verify', duration)]])
  const [settings] = await servers.sql<{ text: string }>(
    `select string_agg(name || '=' || setting, ', ' order by name) as text from pg_settings
     where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'server_version')`,
  )
  console.log(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  )
  console.log(
    `Postgres ${settings?.text ?? 'unknown'}; body ${JSON.stringify(body).length} bytes; ${rounds} x ${seconds} s\n`,
  )
  printTable([...results, ...alone])
  const ratio = ([fetched, express]: Line[]): string =>
    `${((100 * (fetched?.perSecond ?? 0)) / (express?.perSecond ?? 0)).toFixed(0)} %`
  console.log(
    `\nsigned GET as a part of (a): ${ratio(results.slice(0, 2))} with 16 connections, ${ratio(results.slice(4, 6))} with 64`,
  )
  await constant.stop()
  await vault.stop()
  console.log('\nSecrets in the project, two connections:\n')
  await growWithin(servers, duration)
  console.log('\nSecrets of others, ten projects of 20 fetched in turn:\n')
  await growAround(servers, duration)
}

/** Round by round, so that a neighbour's burst of work does not fall on one line alone; the median round of each. */
async function inTurn(lines: readonly Measurement[]): Promise<Line[]> {
  const taken = lines.map((): Partial<Line>[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, , run]] of lines.entries()) {
      const result = await run()
      if (result !== undefined) taken[i]?.push(result)
    }
  }
  return lines.map(([name, connections], i) => {
    const sorted = (taken[i] ?? []).sort((a, b) => Number(a.perSecond) - Number(b.perSecond))
    return { name, connections, ...sorted[Math.floor(sorted.length / 2)] }
  })
}

async function load(job: LoadJob, pid: number): Promise<Result & { serverCpu: number }> {
  let before = Number.NaN
  let startedAt = 0
  const result = await measure('load', { ...duration, ...job }, () => {
    before = cpuSeconds(pid)
    startedAt = performance.now()
  })
  return { ...result, serverCpu: (cpuSeconds(pid) - before) / ((performance.now() - startedAt) / 1000) }
}

async function profile(): Promise<void> {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const vault = await startVault(servers, ['--cpu-prof', `--cpu-prof-dir=${folder}`])
  const shop = await createProject(vault, 'shop', SECRETS)
  const job = { port: vault.port, path: '/v1/secrets', signers: [shop], perSecond: 6000, connections: 16 }
  console.log(await measure('load', { ...duration, ...job, seconds: seconds * rounds }))
  await vault.stop()
}
