import pg from 'pg'

/** Runs some work on its own connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  // Without a listener, a server that ends meanwhile would end this process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The same server and user with another database. */
export function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

/** A role of Postgres. */
export type Role = { name: string; password: string }

/** The same server with another user and database. */
export function withRole(url: string, { name, password }: Role, database: string): string {
  return Object.assign(new URL(withDatabase(url, database)), { username: name, password }).href
}
