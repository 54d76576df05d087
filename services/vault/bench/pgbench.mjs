import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecretStore } from '../dist/secrets/secrets.store.js'

/** The statement of a fetch by pgbench; undefined where pgbench is not installed. */
export async function pgbench({ databaseUrl, caller, connections, seconds, folder }) {
  const file = join(folder, 'fetch.sql')
  writeFileSync(file, await statement(caller))
  const args = ['--no-vacuum', '--protocol=prepared', `--client=${connections}`, '--jobs=2', `--time=${seconds}`]
  const log = join(folder, `pgbench-${connections}`)
  const done = spawnSync('pgbench', [...args, `--file=${file}`, databaseUrl], { encoding: 'utf8', cwd: folder })
  if (done.error?.code === 'ENOENT') return undefined
  if (done.status !== 0) throw new Error(`pgbench failed (${log}): ${done.stderr}`)
  const [, perSecond] = /tps = ([\d.]+)/.exec(done.stdout) ?? []
  const [, average] = /latency average = ([\d.]+)/.exec(done.stdout) ?? []
  const [, failed] = /failed transactions: (\d+)/.exec(done.stdout) ?? []
  return { perSecond: Number(perSecond), p50: Number(average), errors: Number(failed ?? 0) }
}

/** The store's own text with its parameters written out; each run makes an id for its audit entry. */
async function statement(caller) {
  let text = ''
  const query = (config) => {
    text = config.text
    return Promise.resolve({ rows: [] })
  }
  const entry = { id: '', action: '', ip: '' }
  const by = { ...caller, publicKey: Buffer.alloc(0) }
  await createSecretStore(undefined, { query }).readAll(by, '', new Date(), entry)
  const values = [
    `'${caller.projectUid}'::uuid`,
    `'\\x${caller.publicKeyHex}'::bytea`,
    'now()',
    'uuidv7()',
    `'fetch'`,
    `'production'`,
    `'127.0.0.1'`,
  ]
  return `${text.replace(/\$(\d)/g, (_all, n) => values[n - 1])};\n`
}
