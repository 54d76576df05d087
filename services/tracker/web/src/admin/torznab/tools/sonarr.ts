import { type Arr, fetchCaps, queryOf, testFeed } from './arr.ts'
import { type Indexer, ToolError } from './tool.ts'

export const SONARR: Arr = { name: 'Sonarr', version: '4.0.15.2941' }

/** What Sonarr asks for unless the user chooses otherwise. */
export const SONARR_CATEGORIES = [5030, 5040] as const

/** The button "Test". @throws ToolError as the user sees it */
export async function testSonarr(indexer: Indexer, categories: readonly number[] = SONARR_CATEGORIES) {
  const caps = await fetchCaps(SONARR, indexer)
  const canSearchTv =
    ['season', 'ep'].every((name) => caps.tv?.includes(name)) && hasOne(caps.tv, ['q', 'tvdbid', 'rid'])
  if (caps.search?.includes('q') !== true && !canSearchTv) {
    throw new ToolError('Indexer does not support required search parameters')
  }
  return testFeed(SONARR, indexer, queryOf(indexer, caps, 'tvsearch', categories))
}

function hasOne(parameters: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return wanted.some((name) => parameters?.includes(name) === true)
}
