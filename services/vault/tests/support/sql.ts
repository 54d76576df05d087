import pg from 'pg'

/** A superuser's connection. */
export type Sql = {
  <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  end(): Promise<void>
}

/** Connects. If the server stops later, the test continues. */
export async function connectSql(url: string): Promise<Sql> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(text, values)).rows
  return Object.assign(query, { end: () => client.end() })
}
