import { type Arr, type ArrCaps, fetchCaps, fetchPages, fetchTiers, queryOf, testFeed } from './arr.ts'
import { type Indexer, type Release, ToolError } from './tool.ts'

const READARR: Arr = { name: 'Readarr', version: '0.4.18.2805' }

/** Readarr's default categories. */
const CATEGORIES = [3030, 7020, 8010] as const

/** @throws ToolError as the user sees it */
export async function testReadarr(indexer: Indexer): Promise<readonly Release[]> {
  const caps = await fetchCaps(READARR, indexer)
  if (caps.search?.includes('q') !== true && !hasBooks(caps)) {
    throw new ToolError('Indexer does not support required search parameters')
  }
  return testFeed(READARR, indexer, recent(indexer, caps))
}

export async function syncReadarr(indexer: Indexer, lastSeen?: Release): Promise<readonly Release[]> {
  const caps = await fetchCaps(READARR, indexer)
  return fetchPages(READARR, indexer, caps, recent(indexer, caps), lastSeen)
}

/** A book by its fields, then by words, then by its title alone. */
export async function searchBook(
  indexer: Indexer,
  wanted: { author: string; title: string },
): Promise<readonly Release[]> {
  const caps = await fetchCaps(READARR, indexer)
  const [author, title] = [plus(wanted.author), plus(wanted.title)]
  const query = (type: string, rest: string): string => queryOf(indexer, caps, type, CATEGORIES, rest)
  const byFields = hasBooks(caps)
    ? [[query('book', `&author=${author}&title=${title}`), query('book', `&title=${title}`)]]
    : []
  return fetchTiers(READARR, indexer, caps, [
    ...byFields,
    [query('search', `&q=${title}+${author}`), query('search', `&q=${author}+${title}`)],
    [query('search', `&q=${title}`)],
  ])
}

function recent(indexer: Indexer, caps: ArrCaps): string {
  return queryOf(indexer, caps, caps.book === undefined ? 'search' : 'book', CATEGORIES)
}

function hasBooks({ book }: ArrCaps): boolean {
  return ['q', 'author', 'title'].every((name) => book?.includes(name))
}

function plus(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}
