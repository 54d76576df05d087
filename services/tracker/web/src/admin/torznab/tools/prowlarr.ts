import { type Arr, fetchCaps, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

export const PROWLARR: Arr = { name: 'Prowlarr', version: '1.37.0.5076' }

/** The button "Test": asks for the latest of everything, without categories and limit. @throws ToolError as the user sees it */
export async function testProwlarr(indexer: Indexer): Promise<readonly Release[]> {
  const caps = await fetchCaps(PROWLARR, indexer)
  if (caps.search?.includes('q') !== true) throw new ToolError('Indexer does not support required search parameters')
  return accepted(await testFeed(PROWLARR, indexer, `t=search&extended=1&apikey=${indexer.apiKey}`), caps.categories)
}

/** What Prowlarr hands on. @throws ToolError for a release that it would drop without a word to the user */
export function accepted(releases: readonly Release[], known: ReadonlySet<number>): readonly Release[] {
  for (const { title, size, categories } of releases) {
    if (size <= 0) throw new ToolError(`Invalid release: ${title}: no size provided`)
    if (!categories.some((id) => known.has(id)))
      throw new ToolError(`Invalid release: ${title}: no categories provided`)
  }
  return releases
}
