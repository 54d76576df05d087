import { describe, expect, it } from '@jest/globals'
import { type ApplyMigrations, createTestDatabase, type TestDatabase } from '@vault-and-tracker/dev-env'
import { query } from './query.ts'

const migrate: ApplyMigrations = async ({ url, runtimeRole }) => {
  await query(url, `create table notes (text text); grant select, insert on notes to ${runtimeRole}`)
}

describe('createTestDatabase', () => {
  it('runs the migrations once for concurrent calls and gives each its own copy', async () => {
    let built = 0
    const counted: ApplyMigrations = async (target) => {
      built += 1
      await migrate(target)
    }
    const create = (): Promise<TestDatabase> => createTestDatabase({ service: 'racing', migrate: counted })
    const databases = await Promise.all([create(), create(), create(), create()])
    expect(built).toBe(1)
    expect(new Set(databases.map(({ name }) => name)).size).toBe(4)
    const [first, second] = databases
    await query(first.appUrl, "insert into notes values ('only here')")
    expect(await query(second.appUrl, 'select * from notes')).toEqual([])
    await Promise.all(databases.map((database) => database.drop()))
  })

  it('gives the run-time role only the grants of the migrations', async () => {
    const database = await createTestDatabase({ service: 'guarded', migrate })
    expect(await query(database.appUrl, 'select * from notes')).toEqual([])
    await expect(query(database.appUrl, 'delete from notes')).rejects.toThrow('permission denied')
    await expect(query(database.appUrl, 'create table more ()')).rejects.toThrow('permission denied')
    await expect(query(database.appUrl, 'create temporary table more ()')).rejects.toThrow('permission denied')
    await query(database.ownerUrl, 'alter table notes add column at timestamptz')
    await database.drop()
  })

  it('closes a database to the roles of the other service', async () => {
    const ours = await createTestDatabase({ service: 'ours', migrate })
    const theirs = await createTestDatabase({ service: 'theirs', migrate })
    const trespass = new URL(theirs.appUrl)
    trespass.pathname = new URL(ours.appUrl).pathname
    await expect(query(trespass.href, 'select 1')).rejects.toThrow('permission denied for database')
    await Promise.all([ours.drop(), theirs.drop()])
  })

  it('builds the template again after migrations that failed', async () => {
    const failing: ApplyMigrations = async ({ url }) => {
      await query(url, 'create table half_done ()')
      throw new Error('the second migration is wrong')
    }
    await expect(createTestDatabase({ service: 'mended', migrate: failing })).rejects.toThrow('the second migration')
    const database = await createTestDatabase({ service: 'mended', migrate })
    const tables = await query(database.adminUrl, "select tablename from pg_tables where schemaname = 'public'")
    expect(tables).toEqual([{ tablename: 'notes' }])
    await database.drop()
  })
})
