import { childOf, childrenOf, type Element, torznabValues } from './element.ts'
import { get, type Indexer, type Release, readDocument, ToolError, wholeNumber } from './tool.ts'

/** Go's RFC1123Z: a day of two digits and a numeric zone. `GMT` fails the whole feed. */
const RFC1123Z = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}$/

/** A release with the fields that autobrr's filters use. */
export type AutobrrRelease = Release & {
  readonly leechers: number
  readonly isFreeleech: boolean
  readonly isInternal: boolean
}

/** The button "Test": caps, then the feed. @throws ToolError as the user sees it */
export async function testAutobrr(indexer: Indexer): Promise<readonly AutobrrRelease[]> {
  const caps = await fetchXml(indexer, `apikey=${indexer.apiKey}&t=caps`)
  for (const category of childrenOf(childOf(caps, 'categories'), 'category')) {
    wholeNumber(category.attributes['id'], 'A category')
  }
  return readAutobrr(indexer, `apikey=${indexer.apiKey}&extended=1&limit=100&t=search`)
}

/** The releases of a feed. @throws ToolError if it cannot be decoded */
async function readAutobrr(indexer: Indexer, query: string): Promise<readonly AutobrrRelease[]> {
  const root = await fetchXml(indexer, query)
  return childrenOf(childOf(root, 'channel'), 'item').map(readItem)
}

async function fetchXml(indexer: Indexer, query: string): Promise<Element> {
  const { status, body } = await get(indexer, query, {
    'X-API-Key': indexer.apiKey,
    'User-Agent': 'Go-http-client/1.1',
  })
  if (status === 401) throw new ToolError('unauthorized')
  if (status !== 200) throw new ToolError(`unexpected status code: ${status}`)
  return readDocument(indexer, body)
}

/** Go decodes into typed fields: one value of another type fails the decoding of everything. */
function readItem(item: Element): AutobrrRelease {
  const text = (name: string): string => childOf(item, name)?.text ?? ''
  const value = (name: string): string | undefined => torznabValues(item, name)[0]
  if (!RFC1123Z.test(text('pubDate'))) throw new ToolError(`could not parse date: ${text('pubDate')}`)
  if (text('guid') === '') throw new ToolError('an item has no guid')
  const [seeders, peers] = [Number(value('seeders')), Number(value('peers'))]
  return {
    title: text('title'),
    guid: text('guid'),
    link: text('link'),
    size: wholeNumber(text('size'), 'The size'),
    published: Date.parse(text('pubDate')),
    categories: childrenOf(item, 'category').map((category) => wholeNumber(category.text, 'A category')),
    seeders,
    peers,
    leechers: Number(value('leechers') ?? peers - seeders),
    infoHash: value('infohash'),
    // A missing factor is 0.
    isFreeleech: Number(value('downloadvolumefactor') ?? 0) === 0 || torznabValues(item, 'tag').includes('freeleech'),
    isInternal: torznabValues(item, 'tag').includes('internal'),
  }
}

/** A scheduled run names categories, none when none were chosen. */
export async function runAutobrr(
  indexer: Indexer,
  categories: readonly number[] = [],
): Promise<readonly AutobrrRelease[]> {
  const cat = encodeURIComponent(categories.join(','))
  return readAutobrr(indexer, `apikey=${indexer.apiKey}&cat=${cat}&extended=1&limit=100&t=search`)
}
