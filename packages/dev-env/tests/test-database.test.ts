import { describe, expect, it } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from 'dev-env'
import pg from 'pg'

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const result = await client.query<Record<string, unknown>>(sql)
    return result.rows
  } finally {
    await client.end()
  }
}

describe('createTestDatabase', () => {
  it('runs the migrations once for callers that race and gives each its own copy', async () => {
    let built = 0
    const migrate = async ({ url, runtimeRole }: { url: string; runtimeRole: string }): Promise<void> => {
      built += 1
      await query(url, `create table notes (text text); grant select, insert on notes to ${runtimeRole}`)
    }
    const create = (): Promise<TestDatabase> => createTestDatabase({ service: 'racing', migrate })
    const databases = await Promise.all([create(), create(), create(), create()])
    expect(built).toBe(1)
    expect(new Set(databases.map(({ name }) => name)).size).toBe(4)
    const [first, second] = databases
    await query(first.appUrl, "insert into notes values ('only here')")
    expect(await query(second.appUrl, 'select * from notes')).toEqual([])
    await Promise.all(databases.map((database) => database.drop()))
  })
})
