// How the cost of a fetch grows with the secrets of its project, and that it does not grow with those of others.
import { randomUUID } from 'node:crypto'
import type { Duration, Result, Signer } from './job.ts'
import { measure } from './processes.ts'
import { statementOf } from './statement.ts'
import { type Growth, type Line, printGrowth, printTable } from './table.ts'
import { createProject, putSecrets, type Servers, signedFetch, startVault } from './vault.ts'

const SIZES = [1, 10, 100, 1_000, 10_000]
const PROJECTS = 10_000
const SECRETS = 1_000_000

type Explained = { 'QUERY PLAN': { Plan: Record<string, unknown> }[] }

/** One project that grows, fetched by two connections. */
export async function growWithin(servers: Servers, duration: Duration): Promise<void> {
  const vault = await startVault(servers)
  const project = await createProject(vault, 'grows', 0)
  const results: Growth[] = []
  let stored = 0
  for (const secrets of SIZES) {
    await putSecrets(vault, project, stored, secrets)
    stored = secrets
    await servers.sql('analyze')
    const bytes = (await (await signedFetch(vault, project, 'GET')).text()).length
    const job = { port: vault.port, path: '/v1/secrets', signers: [project], connections: 2, perSecond: 3000 }
    results.push({ secrets, bytes, ...(await measure('load', { ...duration, ...job })) })
  }
  await vault.stop()
  printGrowth(results)
}

/** The same ten projects of 20 secrets each are fetched in turn, first alone, then among a million other secrets. */
export async function growAround(servers: Servers, duration: Duration): Promise<void> {
  const vault = await startVault(servers)
  const first = await createProject(vault, 'fetched-0', 20)
  const signers = [first]
  for (let i = 1; i < 10; i++) signers.push(await createProject(vault, `fetched-${i}`, 20))
  const job = { port: vault.port, path: '/v1/secrets', signers, connections: 16, perSecond: 6000 }
  const fetches = () => measure('load', { ...duration, ...job })
  await servers.sql('vacuum analyze')
  const alone = [await fetches(), await fetches()]
  const pagesAlone = await pagesOf(servers, first)
  const seconds = await fill(servers)
  const among = [await fetches(), await fetches()]
  const pagesAmong = await pagesOf(servers, first)
  await vault.stop()
  const [counts] = await servers.sql<{ p: string; s: string }>(
    'select (select count(*) from projects) as p, (select count(*) from secrets) as s',
  )
  console.log(`Filled in ${seconds.toFixed(0)} s; now ${counts?.p ?? '?'} projects, ${counts?.s ?? '?'} secrets\n`)
  const named = (name: string, results: Result[]): Line[] =>
    results.map((result) => ({ name, connections: 16, ...result }))
  console.log(`Pages that one fetch touches: ${pagesAlone} before, ${pagesAmong} after\n`)
  printTable([...named('among ten projects', alone), ...named(`among ${SECRETS.toLocaleString('en')} secrets`, among)])
}

/** How many pages Postgres touches for one fetch, its audit entry included: a number without noise. */
async function pagesOf({ sql }: Servers, { project, publicKeyHex }: Signer): Promise<number> {
  const [row] = await sql<{ uid: string }>('select uid from projects where name = $1', [project])
  const projectUid = row?.uid ?? ''
  const { config, values } = await statementOf({ projectUid, project, publicKeyHex, coversContent: false })
  const fresh = [...values.slice(0, 3), [randomUUID()], ...values.slice(4)]
  const [explained] = await sql<Explained>(`explain (analyze, buffers, format json) ${config.text}`, fresh)
  const plan = explained?.['QUERY PLAN'][0]?.Plan
  return Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks'])
}

/** Other projects by plain SQL: their rows are as real as the fetched ones, their ciphertexts are random bytes. */
async function fill({ sql }: Servers): Promise<number> {
  const started = performance.now()
  await sql(`insert into projects (uid, name, created_at)
    select md5('project' || i)::uuid, 'other-' || i, now() from generate_series(11, ${PROJECTS}) i`)
  await sql(`insert into project_keys (id, project_uid, public_key, created_at)
    select md5('key' || i)::uuid, md5('project' || i)::uuid, sha256(i::text::bytea), now()
    from generate_series(11, ${PROJECTS}) i`)
  await sql(`insert into project_deks (project_uid, dek_v, kek_id, wrapped, created_at)
    select md5('project' || i)::uuid, 1, (select min(kek_id) from keks), sha256(i::text::bytea), now()
    from generate_series(11, ${PROJECTS}) i`)
  const each = Math.ceil(SECRETS / PROJECTS)
  await sql(`insert into secrets (id, project_uid, env, key, version, updated_at)
    select md5(i || '/' || j)::uuid, md5('project' || i)::uuid, 'production', 'SERVICE_SECRET_' || j, 1, now()
    from generate_series(11, ${PROJECTS}) i, generate_series(1, ${each}) j`)
  await sql(`insert into secret_versions (secret_id, version, dek_v, blob, created_at)
    select id, 1, 1, sha256(id::text::bytea) || sha256(key::bytea), now() from secrets where key like 'SERVICE!_SECRET!_%' escape '!'
      and project_uid not in (select uid from projects where name not like 'other-%')`)
  await sql('vacuum analyze')
  return (performance.now() - started) / 1000
}
