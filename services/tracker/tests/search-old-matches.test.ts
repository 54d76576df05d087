import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from './support/client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

/** More than an exact total. */
const OLD = 5_200
/** More than a walk from the newest torrent reads. */
const NEW = 21_000

let tracker: TestTracker
let member: Client

beforeAll(async () => {
  tracker = await startTracker()
  // It would read the names again, which do not contain a resolution.
  await tracker.context.background.stop()
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  // Of the torrents of three years, from 2020 on, only the oldest have a resolution, and every third of them has a seeder.
  await tracker.sql(
    `insert into torrents (id, info_hash, name, category_id, size, file_count, resolution, search, created_at)
      select gen_random_uuid(), decode(lpad(to_hex(n), 40, '0'), 'hex'), n::text,
        (select id from categories where slug = 'tv'), 1, 1, case when n < $1 then '2160p' end, '',
        case when n < $1 then timestamptz '2020-12-01Z' + n * interval '2 hours'
          else timestamptz '2023-01-01Z' + n * interval '1 second' end
      from generate_series(0, $1::integer + $2::integer - 1) as n`,
    [OLD, NEW],
  )
  await tracker.sql('analyze torrents')
  await tracker.sql(`insert into torrent_stats (torrent_id, seeders)
    select id, case when name::integer % 3 = 0 then 1 else 0 end from torrents`)
  await tracker.sql('analyze torrents')
})

afterAll(() => tracker.stop())

async function names(query: string): Promise<readonly string[]> {
  const { json } = await member.get(`/api/torrents?${query}`)
  return (json as { items: { name: string }[] }).items.map(({ name }) => name)
}

const from = (first: number, step: number): readonly string[] =>
  Array.from({ length: 100 }, (_, i) => String(first + i * step))

test.each([
  ['order=desc', from(OLD - 1, -1)],
  ['order=desc&page=50', from(OLD - 1 - 4_900, -1)],
  ['order=asc', from(0, 1)],
  ['order=asc&page=50', from(4_900, 1)],
  ['order=desc&alive=true', from(5_199, -3)],
  ['order=desc&alive=true&page=17', from(399, -3)],
])('many old matches and no new ones are sorted by time: %s', async (query, expected) => {
  expect(await names(`resolution=2160p&limit=100&${query}`)).toEqual(expected)
})
