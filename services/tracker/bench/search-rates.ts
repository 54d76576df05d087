import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PostgresDialect } from 'kysely'
import type pg from 'pg'

/** A statement as it was sent, those of transactions included. */
export type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }

/** How often something was done in a second, and the processor time that each took, in milliseconds. */
export type Rate = { readonly perSecond: number; readonly processorMs: number }

const SECONDS = 4
const CONNECTIONS = 8
/** So that the list does not end before the time is over. */
const REQUESTS = 5_000

const script = fileURLToPath(new URL('paths.lua', import.meta.url))

/** The dialect for a pool whose statements are taken down in `ran`, as they reach Postgres and in their order. */
export function recordingDialect(pool: pg.Pool, ran: Statement[]): PostgresDialect {
  return new PostgresDialect({
    pool: {
      connect: async () => {
        const client = await pool.connect()
        const query = client.query.bind(client)
        return Object.assign(Object.create(client) as typeof client, {
          query: (sql: string, parameters: readonly unknown[]) => {
            ran.push({ sql, parameters })
            return query(sql, [...parameters])
          },
        })
      },
      end: () => pool.end(),
    },
  })
}

/** The same statements over as many connections, one after the other in each, their rows read by pg. */
export async function bareRate(
  pool: pg.Pool,
  scripts: readonly (readonly Statement[])[],
  cpuSeconds: () => number,
): Promise<Rate> {
  const [cpu, from] = [cpuSeconds(), performance.now()]
  let done = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - from < SECONDS * 1_000) {
      const client = await pool.connect()
      for (const { sql, parameters } of scripts[done++ % scripts.length] ?? []) await client.query(sql, [...parameters])
      client.release()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  const perSecond = (done * 1_000) / (performance.now() - from)
  return { perSecond, processorMs: ((cpuSeconds() - cpu) * 1_000) / done }
}

/**
 * Requests of the service by wrk, which uses little of the processor itself.
 *
 * @param path makes the path of request `n`
 * @throws Error when one is not answered with 200
 */
export async function servedRate(options: {
  url: string
  cookie: string
  folder: string
  path: (n: number) => string
  cpuSeconds: () => number
}): Promise<Rate> {
  const { url, cookie, folder, path, cpuSeconds } = options
  const list = join(folder, 'paths')
  writeFileSync(list, Array.from({ length: REQUESTS }, (_, n) => `${path(n)}\n`).join(''))
  const cpu = cpuSeconds()
  const load = ['-t1', `-c${String(CONNECTIONS)}`, `-d${String(SECONDS)}s`, '--timeout=10s']
  const { stdout } = await promisify(execFile)('wrk', [...load, '-s', script, url, '--', list, cookie])
  const failed = /(Non-2xx|Socket errors).*/.exec(stdout)
  if (failed !== null) throw new Error(`${path(0)}: ${failed[0]}`)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  return { perSecond, processorMs: ((cpuSeconds() - cpu) * 1_000) / requests }
}
