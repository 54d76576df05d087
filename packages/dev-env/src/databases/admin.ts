import pg from 'pg'

/** Runs some work on one connection of its own. */
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
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** The same server with another user and database. */
export function withRole(url: string, role: Role, database: string): string {
  const changed = new URL(withDatabase(url, database))
  changed.username = role.name
  changed.password = role.password
  return changed.href
}

/** A role of Postgres with its password. */
export type Role = {
  name: string
  password: string
}
