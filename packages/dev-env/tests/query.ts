import pg from 'pg'

/** Runs one statement on a separate connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const result = await client.query<Record<string, unknown>>(sql)
    return result.rows
  } finally {
    await client.end()
  }
}
