import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller, Result, SqlJob } from './job.ts'
import { statementOf } from './statement.ts'

/** The statement of a fetch by pgbench; undefined where pgbench is not installed. */
export async function pgbench({
  databaseUrl,
  caller,
  connections,
  seconds,
  folder,
}: SqlJob & { seconds: number; folder: string }): Promise<Result | undefined> {
  const file = join(folder, 'fetch.sql')
  writeFileSync(file, await statement(caller))
  const args = ['--no-vacuum', '--protocol=prepared', `--client=${connections}`, '--jobs=2', `--time=${seconds}`]
  const log = join(folder, `pgbench-${connections}`)
  const done = spawnSync('pgbench', [...args, `--file=${file}`, databaseUrl], { encoding: 'utf8', cwd: folder })
  if (done.error !== undefined && 'code' in done.error && done.error.code === 'ENOENT') return undefined
  if (done.status !== 0) throw new Error(`pgbench failed (${log}): ${done.stderr}`)
  const [, perSecond] = /tps = ([\d.]+)/.exec(done.stdout) ?? []
  const [, average] = /latency average = ([\d.]+)/.exec(done.stdout) ?? []
  const [, failed] = /failed transactions: (\d+)/.exec(done.stdout) ?? []
  return { perSecond: Number(perSecond), p50: Number(average), errors: Number(failed ?? 0) }
}

/** The store's own text with its parameters written out; each run makes an id for its audit entry. */
async function statement(caller: Caller): Promise<string> {
  const { config } = await statementOf(caller)
  const values = [
    `array['${caller.projectUid}'::uuid]`,
    `array['\\x${caller.publicKeyHex}'::bytea]`,
    'array[now()]',
    'array[uuidv7()]',
    `array['fetch']`,
    `array['production']`,
    `array['127.0.0.1'::inet]`,
  ]
  return `${config.text.replace(/\$(\d)/g, (_all, n) => String(values[Number(n) - 1]))};\n`
}
