import pg from 'pg'

/** A superuser's connection that looks and reaches behind the service's back. */
export type Sql = {
  <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  end(): Promise<void>
}

/** Connects; a server that stops later does not end the test. */
export async function connectSql(url: string): Promise<Sql> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(text, values)).rows
  return Object.assign(query, { end: () => client.end() })
}
