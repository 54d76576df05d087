import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase, withClient } from '@vault-and-tracker/dev-env'
import { createMigrate } from '@vault-and-tracker/service-kit/postgres/migrate'
import pg from 'pg'
import { MIGRATIONS, migrate } from '../src/db/migrations.ts'
import { createTrackerDatabase } from './support/tracker.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTrackerDatabase()
})

afterAll(() => database.drop())

/** A database of the release that had no such migration. */
function databaseBefore(name: string): Promise<TestDatabase> {
  const names = Object.keys(MIGRATIONS)
  return databaseWith(names.slice(0, names.indexOf(name)))
}

/** A database with these migrations only. */
function databaseWith(names: readonly string[]): Promise<TestDatabase> {
  const migrations = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => names.includes(name)))
  const migrateOnly = createMigrate({ migrations, grants: () => [] })
  return createTestDatabase({
    service: `tracker-until-${names.at(-1)?.slice(0, 4)}`,
    migrate: async (target) => {
      await migrateOnly(target)
    },
  })
}

async function asApp(statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: database.appUrl })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

test('a migrated database needs no migration', async () => {
  const role = new URL(database.appUrl).username
  await expect(migrate({ url: database.ownerUrl, runtimeRole: role })).resolves.toEqual([])
})

test('a build that dated listings before it had moderation can be upgraded', async () => {
  const names = Object.keys(MIGRATIONS)
  const until = names.indexOf('0021-site-look-and-rules') + 1
  const before = await databaseWith([...names.slice(0, until), '0023-listing-times'])
  const role = new URL(before.appUrl).username
  try {
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0022-moderation')
  } finally {
    await before.drop()
  }
})

test("earlier invites count against their creators' allowance, except those of staff", async () => {
  const before = await databaseBefore('0012-invite-allowances')
  try {
    const asOwner = (statement: string) =>
      withClient(before.ownerUrl, async (client) => (await client.query<Record<string, unknown>>(statement)).rows)
    await asOwner(
      `insert into users (id, username, email, password_hash, role, passkey, created_at)
        select gen_random_uuid(), role, role, '', role, repeat(left(md5(role), 1), 40), now()
        from unnest(array['member', 'moderator', 'admin']) as role`,
    )
    const asPreviousRelease = `insert into invites (id, code_hash, created_by, created_at, expires_at)
      select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), id, now(), now() from users`
    await asOwner(asPreviousRelease)
    const role = new URL(before.appUrl).username
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0012-invite-allowances')
    const stored = 'select role, from_allowance from invites join users on users.id = created_by order by role'
    await expect(asOwner(stored)).resolves.toEqual([
      { role: 'admin', from_allowance: false },
      { role: 'member', from_allowance: true },
      { role: 'moderator', from_allowance: false },
    ])
    await asOwner('delete from invites')
    await asOwner(`${asPreviousRelease} where role = 'member'`)
    await expect(asOwner(stored)).resolves.toEqual([{ role: 'member', from_allowance: true }])
  } finally {
    await before.drop()
  }
})

test('the daily request log is carried over, except requests without a user', async () => {
  const before = await databaseBefore('0014-torznab-log')
  const role = new URL(before.appUrl).username
  try {
    const asOwner = (statement: string) =>
      withClient(before.ownerUrl, async (client) => (await client.query<Record<string, unknown>>(statement)).rows)
    const asPreviousRelease = (user: string, query: string) =>
      `select torznab_log_ensure_day(current_date); insert into torznab_requests
        values (gen_random_uuid(), now(), ${user}, 'search', '${query}', 1, 1, null, 'Sonarr')`
    await asOwner(asPreviousRelease('gen_random_uuid()', 'of a user'))
    await asOwner(asPreviousRelease('null', 'of nobody'))
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0014-torznab-log')
    await expect(asOwner('select query from torznab_requests')).resolves.toEqual([{ query: 'of a user' }])
  } finally {
    await before.drop()
  }
})

test('Torznab statistics by hour and users are carried over, and the previous release can still write', async () => {
  const before = await databaseBefore('0015-torznab-hours')
  const role = new URL(before.appUrl).username
  try {
    const asOwner = (statement: string) =>
      withClient(before.ownerUrl, async (client) => (await client.query<Record<string, unknown>>(statement)).rows)
    await asOwner(`
      insert into users (id, username, email, password_hash, role, passkey, created_at)
        select gen_random_uuid(), name, name, '', 'member', repeat(left(md5(name), 1), 40), now()
        from unnest(array['alice', 'bob']) as name;
      insert into torznab_users (user_id, requests, last_at)
        select id, 1, '2026-03-10T05:30Z' from users order by username;
      insert into torznab_user_sets (span, start, users) values
        ('hour', '2026-03-09T04:00Z', '\\x01'), ('day', '2026-03-09T00:00Z', '\\x01'), ('day', '2026-03-10T00:00Z', '\\x03');
      insert into torznab_counts (span, kind, start, name, requests, errors, duration_ms, buckets) values
        ('hour', 'all', '2026-03-09T04:00Z', '', 5, 1, 40, '{1,0,0,4}'),
        ('hour', 'function', '2026-03-09T04:00Z', 'search', 5, 1, 40, '{1,0,0,4}'),
        ('hour', 'client', '2026-03-09T04:00Z', 'Sonarr', 5, 1, 40, '{}'),
        ('day', 'function', '2026-03-09T00:00Z', 'search', 5, 1, 40, '{1,0,0,4}')`)
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0015-torznab-hours')
    const sums = { hour: new Date('2026-03-09T04:00Z'), requests: 5, errors: 1, duration_ms: 40 }
    await expect(asOwner('select * from torznab_hours order by kind, name')).resolves.toEqual([
      { kind: 'client', name: 'Sonarr', ...sums },
      { kind: 'function', name: 'search', ...sums },
    ])
    const users = 'select username, first_at from torznab_users join users on id = user_id order by username'
    await expect(asOwner(users)).resolves.toEqual([
      { username: 'alice', first_at: new Date('2026-03-09T00:00Z') },
      { username: 'bob', first_at: new Date('2026-03-10T00:00Z') },
    ])

    // The previous release still runs, as the run-time role.
    await withClient(before.appUrl, async (client) => {
      await client.query(`
        insert into torznab_counts as c (span, kind, start, name, requests, errors, duration_ms, buckets)
          select span, kind, '2026-03-09T04:00Z', name, 2, 0, 10, '{2}'
          from (values ('hour', 'all', ''), ('hour', 'function', 'search'), ('hour', 'function', 'caps'),
            ('day', 'function', 'search')) as new (span, kind, name)
          on conflict (span, kind, start, name) do update set
            requests = c.requests + excluded.requests, errors = c.errors + excluded.errors,
            duration_ms = c.duration_ms + excluded.duration_ms;
        insert into users (id, username, email, password_hash, role, passkey, created_at)
          values (gen_random_uuid(), 'carol', 'carol', '', 'member', repeat('c', 40), now());
        insert into torznab_users (user_id, last_at) select id, now() from users where username = 'carol';
        update torznab_users set requests = requests + 1 returning number;
        update torznab_user_sets set users = '\\x01'`)
    })
    await expect(
      asOwner("select name, requests, duration_ms from torznab_hours where kind = 'function' order by name"),
    ).resolves.toEqual([
      { name: 'caps', requests: 2, duration_ms: 10 },
      { name: 'search', requests: 7, duration_ms: 50 },
    ])
  } finally {
    await before.drop()
  }
})

test('filters find torrents of earlier releases, which can still write and search, and all have numbers', async () => {
  const before = await databaseBefore('0016-filters')
  const role = new URL(before.appUrl).username
  try {
    const asPreviousRelease = (letter: string) =>
      `insert into torrents (id, info_hash, name, category_id, size, file_count, resolution, hdr, search, created_at)
        select gen_random_uuid(), sha1, '${letter}', id, 3000000, 1, '2160p', '{DV}', '''${letter}name''', '2026-03-10'
        from categories, lateral (select decode(repeat(left(md5('${letter}'), 1), 40), 'hex') as sha1) as hashes`
    await withClient(before.ownerUrl, async (client) => {
      await client.query(`insert into categories (id, slug, name, torznab_id, created_at)
        values (gen_random_uuid(), 'tv', 'TV', 5000, now())`)
      await client.query(asPreviousRelease('a'))
    })
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0016-filters')
    await withClient(before.appUrl, async (client) => {
      await client.query(asPreviousRelease('b'))
      await client.query('set enable_seqscan = off')
      const filtered = `select name from torrents where deleted_at is null and state = 'approved'
        and release_facets(resolution, source, codec, hdr, audio, languages, download_percent, uploader_id, size, created_at)
          @@ $1::tsquery order by name`
      const search = `select name from torrents where deleted_at is null and state = 'approved'
        and facets @@ (select ('''#c' || id || '''')::tsquery from categories)
        and word_beginnings(search) @@ '''an'' | ''bn'''::tsquery order by name`
      const both = [{ name: 'a' }, { name: 'b' }]
      const terms = "'#r2160p' & '#hDV' & '#z2' & '#f12' & '#k2026' & '#k202603'"
      expect((await client.query(filtered, [terms])).rows).toEqual(both)
      expect((await client.query(filtered, ["'#r1080p'"])).rows).toEqual([])
      expect((await client.query(search)).rows).toEqual(both)
      const numbered = 'select name, number from torrent_numbers join torrents on id = torrent_id order by number'
      expect((await client.query(numbered)).rows).toEqual([
        { name: 'a', number: '1' },
        { name: 'b', number: '2' },
      ])
    })
  } finally {
    await before.drop()
  }
})

test('a site of an earlier release that had an administrator is set up, even if it lost them', async () => {
  const before = await databaseBefore('0036-first-administrator')
  const role = new URL(before.appUrl).username
  try {
    await withClient(before.ownerUrl, (client) =>
      client.query(`
        insert into users (id, username, email, password_hash, role, passkey, created_at)
          values (gen_random_uuid(), 'alice', 'alice', '', 'member', repeat('a', 40), now());
        insert into admin_log (id, at, actor_id, action, target_type)
          select gen_random_uuid(), now(), id, 'site.update', 'site' from users`),
    )
    await expect(migrate({ url: before.ownerUrl, runtimeRole: role })).resolves.toContain('0036-first-administrator')
    const settings = await withClient(before.appUrl, (client) =>
      client.query('select had_administrator from site_settings'),
    )
    expect(settings.rows).toEqual([{ had_administrator: true }])
  } finally {
    await before.drop()
  }
})

test('there is exactly one row of site settings', async () => {
  await expect(asApp('select download_percent, upload_percent from site_settings')).resolves.toEqual([
    { download_percent: 100, upload_percent: 100 },
  ])
  await expect(asApp('insert into site_settings default values')).rejects.toThrow(/permission denied/)
})

test.each([
  'create table intruder (id integer)',
  'alter table users add column intruder integer',
  'truncate users cascade',
  'drop table flush_log',
  'delete from users',
  'update flush_log set flushed_at = now()',
  "insert into kysely_migration values ('9999', 'now')",
])('the run-time role cannot: %s', async (statement) => {
  await expect(asApp(statement)).rejects.toThrow(/permission denied|must be owner/)
})
