import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DestinationStream } from 'pino'
import { isError, UnavailableError } from './errors.ts'
import { createLogger, type Logger } from './logger.ts'

/** bigint columns hold counts and bytes, which fit into a JavaScript number. A value that does not is an error. */
function parseInt8(text: string): number {
  const n = Number(text)
  if (!Number.isSafeInteger(n)) throw new RangeError('a bigint from Postgres exceeds 2^53 - 1')
  return n
}

const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, parseInt8)

/** What a pool needs. `name` appears in pg_stat_activity; `size` is the number of connections at most. */
export type PoolOptions = {
  readonly url: string
  readonly name: string
  readonly size: number
  readonly logger: Logger
  readonly statementTimeoutMs?: number
  readonly idleTransactionTimeoutMs?: number
}

/**
 * A connection pool. A query that gets no connection or exceeds the statement timeout fails, so that queries do not
 * queue while Postgres is unavailable.
 *
 * @param options `statementTimeoutMs` is enforced by the server, and two seconds later by the client in case the server
 *   does not respond; 10,000 by default. `idleTransactionTimeoutMs`: Postgres ends a transaction in which this client does
 *   nothing for so long, and its locks; 30,000 by default
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
    idle_in_transaction_session_timeout: options.idleTransactionTimeoutMs ?? 30_000,
    keepAlive: true,
  })
  // Without a listener, the error of a lost connection would end the process.
  pool.on('error', (error) => options.logger.warn({ err: error }, 'idle Postgres connection lost'))
  pool.on('connect', (client) => {
    client.on('error', (error) => options.logger.warn({ err: error }, 'Postgres connection lost'))
    // Every client of a pool is one; the type of the event does not say so.
    if (client instanceof pg.Client) endWhenUnanswered(client)
  })
  return pool
}

/**
 * Ends a connection on which Postgres did not answer in time. Whatever is asked next, such as the rollback of a transaction,
 * would wait for the same answer, and then as long again.
 */
function endWhenUnanswered(client: pg.Client): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  const watched = (...given: unknown[]): unknown => {
    const asked = query(...given)
    if (asked instanceof Promise)
      asked.catch((error: unknown) => {
        if (isError(error) && error.message === 'Query read timeout') void client.end()
      })
    return asked
  }
  client.query = watched as typeof client.query
}

/** A query builder on a pool. Destroying it ends the pool. */
export function createKysely<Database>(pool: pg.Pool): Kysely<Database> {
  return new PoolOwner<Database>(pool)
}

/** Kysely itself leaves a pool open on which it has run no query. */
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

/** What a command's work on a database needs; its logger writes to `destination`. */
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

/**
 * Whether Postgres refused a value of a statement, such as a NUL, an address that is none, or a text too long for an index
 * (SQLSTATE classes 22, 23 and 54): the same statement fails every time.
 */
export function isRefusedValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}
