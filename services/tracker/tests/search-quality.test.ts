import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseTorznabQuery } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../src/categories/categories.ts'
import { SUPPORTED_PARAMETERS, toSearchQuery } from '../src/torznab/search-query.ts'
import { CATALOGUE, SEARCH_CASES } from './data/search-quality.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

// The searches in Postgres return exactly the results that were labelled by hand.

let tracker: TestTracker
let member: Client
let categories: readonly Category[]
const keys = new Map(CATALOGUE.map(({ key, name }) => [name, key]))

beforeAll(async () => {
  tracker = await startTracker()
  const { useCases } = tracker.context
  categories = await useCases.categories.seed()
  member = await tracker.signedIn('member')
  const uploader = await useCases.accounts.create({
    username: 'uploader',
    email: 'uploader@example.org',
    password: 'correct horse battery',
    role: 'member',
  })
  for (const { key, name, category, ids: externalIds } of CATALOGUE) {
    const bytes = makeTorrent(key.replaceAll('/', ' '))
    await useCases.torrents.upload(uploader, { bytes, name, category, description: '', externalIds })
  }
}, 120_000)

afterAll(() => tracker.stop())

/** The keys of what a Torznab query returns. */
async function searchTorznab(rawQuery: string): Promise<readonly string[]> {
  const request = parseTorznabQuery(`apikey=k&${rawQuery}`, {
    supported: SUPPORTED_PARAMETERS,
    limits: { default: 25, max: 100 },
  })
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details')
    throw new Error(`not a search: ${rawQuery}`)
  const { query } = request
  const wanted = toSearchQuery(query, { categories, isAllFree: false, now: Date.now() })
  if (wanted === undefined) return []
  const { items } = await tracker.context.useCases.search.find(wanted, 'any member')
  return items.map(({ name }) => keys.get(name) ?? name)
}

type Named = { readonly name: string }

async function searchAsMember(query: string): Promise<{ found: readonly string[]; suggested: readonly string[] }> {
  const answer = await member.get(`/api/torrents?limit=100&${query}`)
  const { items, suggestions = [] } = answer.json as { items: readonly Named[]; suggestions?: readonly Named[] }
  const keysOf = (torrents: readonly Named[]) => torrents.map(({ name }) => keys.get(name) ?? name)
  return { found: keysOf(items), suggested: keysOf(suggestions) }
}

describe('Postgres finds the hand-labelled results', () => {
  test.each(SEARCH_CASES.map((one) => [one.client, one.query, one] as const))(
    '%s: %s',
    async (client, query, { returns, suggests }) => {
      if (client !== 'member') {
        expect((await searchTorznab(query)).toSorted()).toEqual(returns.toSorted())
        return
      }
      const { found, suggested } = await searchAsMember(query)
      expect(found.toSorted()).toEqual(returns.toSorted())
      if (suggests.length > 0) expect(suggested.filter((key) => suggests.includes(key))).not.toEqual([])
    },
  )
})
