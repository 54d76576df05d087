import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DestinationStream } from 'pino'
import { isError, UnavailableError } from '../core/errors.ts'
import { createLogger, type Logger } from '../log/logger.ts'

/** Counts and bytes in bigint columns fit into a JavaScript number. A value that does not is an error. */
function parseInt8(text: string): number {
  const n = Number(text)
  if (!Number.isSafeInteger(n)) throw new RangeError('a bigint from Postgres exceeds 2^53 - 1')
  return n
}

const { INT8, TIMESTAMPTZ } = pg.types.builtins
/** A time, or a number for an infinite one. */
const parseTime = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number

/** The times of RFC 3339. */
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** Others, such as `infinity`, become the nearest of these: a list that contains one can still be shown. */
function parseNearestTime(text: string): Date {
  const time = parseTime(text)
  const ms = Number(time)
  if (time instanceof Date && ms >= EARLIEST && ms <= LATEST) return time
  return new Date(ms < EARLIEST ? EARLIEST : LATEST)
}

const types = new pg.TypeOverrides()
types.setTypeParser(INT8, parseInt8)
types.setTypeParser(TIMESTAMPTZ, parseNearestTime)

/**
 * `url` has the parameter `pgbouncer=true` for a pooler in transaction mode: then no session is configured, and no statement
 * is named. `name` appears in pg_stat_activity; `size` is the maximum number of connections.
 */
export type PoolOptions = {
  readonly url: string
  readonly name: string
  readonly size: number
  readonly logger: Logger
  readonly statementTimeoutMs?: number
  readonly idleTransactionTimeoutMs?: number
}

/**
 * A connection pool. A query that gets no connection or exceeds the statement timeout fails, so that queries do not queue
 * while Postgres is unavailable.
 *
 * @param options `statementTimeoutMs` is enforced by the server, and two seconds later by the client in case the server
 *   does not respond. After `idleTransactionTimeoutMs` without a statement, Postgres ends a transaction and its locks. With
 *   a pooler, the server enforces the timeouts of the role instead
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { url, size, logger, statementTimeoutMs = 10_000, idleTransactionTimeoutMs = 30_000 } = options
  const isPooled = /[?&]pgbouncer=true(&|$)/.test(url)
  const pool = new pg.Pool({
    Client: isPooled ? WithoutNames : EndedWhenUnanswered,
    connectionString: url,
    application_name: options.name,
    max: size,
    types,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 30_000,
    query_timeout: statementTimeoutMs + 2_000,
    ...(!isPooled && {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    }),
    keepAlive: true,
  })
  // Without a listener, the error of a lost connection would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'idle Postgres connection lost'))
  pool.on('connect', (client) => {
    client.on('error', (error) => logger.warn({ err: error }, 'Postgres connection lost'))
  })
  return pool
}

/**
 * Closes its connection when Postgres does not answer a query in time. The next query on it, such as the rollback of the
 * transaction, would otherwise wait for the same answer, and then as long again.
 */
class EndedWhenUnanswered extends pg.Client {
  /** `never` fits the overloads of the base class, whose result is passed on. */
  override query(...given: unknown[]): never {
    const result: unknown = super.query(...(given as [string]))
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (isError(error) && error.message === 'Query read timeout') void this.end()
      })
    return result as never
  }
}

/** A pooler assigns a connection per transaction, and the next one does not know a named statement. */
class WithoutNames extends EndedWhenUnanswered {
  override query(config: unknown, ...given: unknown[]): never {
    const isNamed = typeof config === 'object' && config !== null && 'name' in config
    return super.query(isNamed ? { ...config, name: undefined } : config, ...given)
  }
}

/** A query builder on a pool. Destroying it ends the pool. */
export function createKysely<Database>(pool: pg.Pool): Kysely<Database> {
  return new PoolOwner<Database>(pool)
}

/** Ends the pool even if no query ran on it, which Kysely itself does not. */
class PoolOwner<Database> extends Kysely<Database> {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super({ dialect: new PostgresDialect({ pool }) })
    this.#pool = pool
  }

  override async destroy(): Promise<void> {
    await super.destroy()
    if (!this.#pool.ended) await this.#pool.end()
  }
}

/** The database of a command. The logger writes to `destination`. */
export type CommandDatabase = {
  readonly url: string
  readonly name: string
  readonly level: string
  readonly destination: DestinationStream
  readonly statementTimeoutMs?: number
}

/** Runs a command's work on a database, and closes the connections whether the work succeeds or fails. */
export async function withDatabase<Database, Result>(
  { level, destination, ...options }: CommandDatabase,
  work: (db: Kysely<Database>, logger: Logger) => Promise<Result>,
): Promise<Result> {
  const logger = createLogger({ name: options.name, level, destination })
  const db = createKysely<Database>(createPool({ ...options, size: 2, logger }))
  try {
    return await work(db, logger)
  } finally {
    await db.destroy()
  }
}

/** The name of the constraint of a unique violation (SQLSTATE 23505); undefined for other errors. */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined
}

/** @throws UnavailableError when Postgres does not respond */
export async function pingPostgres(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (error) {
    throw new UnavailableError('postgres', { cause: error })
  }
}
