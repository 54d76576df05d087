import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { errorCode, isError, UnavailableError } from './errors.ts'
import type { Logger } from './logger.ts'

/** bigint columns hold counts and bytes; all of ours fit a JavaScript number, and one that does not is an error. */
function parseInt8(text: string): number {
  const n = Number(text)
  if (!Number.isSafeInteger(n)) throw new RangeError('a bigint from Postgres exceeds 2^53 - 1')
  return n
}

const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, parseInt8)

/** What a pool needs. `name` appears in pg_stat_activity; `size` is the number of connections at most. */
export type PoolOptions = Readonly<{
  url: string
  name: string
  size: number
  logger: Logger
  statementTimeoutMs?: number
}>

/**
 * A connection pool. A query that cannot get a connection, or takes longer than the statement time-out, fails instead
 * of queueing up behind a database that is away.
 *
 * @param options `statementTimeoutMs` is enforced by the server, and by the client a little later for one that froze
 */
export function createPool(options: PoolOptions): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.size,
    types,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 2_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
  })
  // Without these listeners a lost connection would end the process.
  pool.on('error', (error) => options.logger.warn({ err: error }, 'lost an idle Postgres connection'))
  pool.on('connect', (client) => {
    client.on('error', (error) => options.logger.warn({ err: error }, 'lost a Postgres connection'))
  })
  return pool
}

/** A query builder over a pool; destroying it ends the pool. */
export function createKysely<Database>(pool: pg.Pool): Kysely<Database> {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

/** Runs work on a pool of its own, which ends with the work. */
export async function withDatabase<Database, Result>(
  options: PoolOptions,
  work: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  const db = createKysely<Database>(createPool(options))
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** Connection lost or refused, server starting or stopping, read-only, out of connections or memory, time-outs. */
const UNAVAILABLE_SQLSTATES = /^(08|53|57P|57014|25006|55P03|58)/
const UNAVAILABLE_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ENOENT',
])
const UNAVAILABLE_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed and is not queryable)/

/** Whether an error says that Postgres is away or refuses work for now, as opposed to a fault in what was asked. */
export function isPostgresUnavailable(error: unknown): boolean {
  if (!isError(error)) return false
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isPostgresUnavailable)
  const code = errorCode(error) ?? ''
  return (
    (code.length === 5 && UNAVAILABLE_SQLSTATES.test(code)) ||
    UNAVAILABLE_SYSTEM.has(code) ||
    UNAVAILABLE_MESSAGE.test(error.message)
  )
}

/** Runs work on Postgres. @throws UnavailableError when Postgres is away, else whatever the work throws */
export async function orPostgresUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isPostgresUnavailable(error) ? new UnavailableError('postgres', { cause: error }) : error
  }
}

/** The constraint a unique violation (SQLSTATE 23505) names, else undefined. */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined
}

/** Fails with UnavailableError unless Postgres answers. */
export async function pingPostgres(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (error) {
    throw new UnavailableError('postgres', { cause: error })
  }
}
