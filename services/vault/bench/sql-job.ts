// The statement of one fetch alone on a bare pg pool, as many callers and connections at once as asked for, nothing
// decrypted. Each run is a real one: it commits an audit entry.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { type Duration, onJob, quantile, type Result, type SqlJob } from './job.ts'
import { statementOf } from './statement.ts'

onJob('sql', run)

async function run(job: SqlJob & Duration): Promise<Result> {
  const { databaseUrl, caller, secrets, connections, seconds, warmUpSeconds } = job
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  const { config, values } = await statementOf(caller)
  const [uid, publicKey, , , ...others] = values
  const latencies: number[] = []
  let errors = 0
  const warmUntil = performance.now() + warmUpSeconds * 1000
  const until = warmUntil + seconds * 1000
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      const started = performance.now()
      const fresh = [uid, publicKey, [new Date()], [randomUUID()], ...others]
      const { rows } = await pool.query({ ...config, values: fresh })
      if (rows.length !== secrets) errors++
      if (started >= warmUntil) latencies.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  await pool.end()
  const sorted = Float64Array.from(latencies).sort()
  return { perSecond: sorted.length / seconds, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), errors }
}
