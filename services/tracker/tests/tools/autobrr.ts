import { type AutobrrRelease, readAutobrr } from '../../web/src/admin/torznab/tools/autobrr.ts'
import type { Indexer } from '../../web/src/admin/torznab/tools/tool.ts'

/** A scheduled run names categories, none when none were chosen. */
export async function runAutobrr(
  indexer: Indexer,
  categories: readonly number[] = [],
): Promise<readonly AutobrrRelease[]> {
  const cat = encodeURIComponent(categories.join(','))
  return readAutobrr(indexer, `apikey=${indexer.apiKey}&cat=${cat}&extended=1&limit=100&t=search`)
}
