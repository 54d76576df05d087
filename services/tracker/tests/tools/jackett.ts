import { childOf, childrenOf, descendants, type Element, torznabValues } from './element.ts'
import { get, type Indexer, type Release, readDocument, ToolError, wholeNumber } from './tool.ts'

/** Jackett calls itself a browser. */
const HEADERS = {
  Accept: '*/*',
  'User-Agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/135.0.0.0 Safari/537.36',
}

/** The button "Test": an empty search has to find something. @throws ToolError as the user sees it */
export async function testJackett(indexer: Indexer): Promise<readonly Release[]> {
  const releases = await searchJackett(indexer, '')
  if (releases.length === 0) throw new ToolError('Found no results while trying to browse this tracker')
  return releases
}

/** A search of Jackett's reader of Newznab feeds. @throws ToolError if all of it fails */
export async function searchJackett(indexer: Indexer, q: string): Promise<readonly Release[]> {
  const query = `t=search&apikey=${indexer.apiKey}&q=${encodeURIComponent(q)}`
  const { status, body } = await get(indexer, query, HEADERS)
  if (status !== 200) throw new ToolError(`Unexpected status ${status}`)
  return descendants(await readDocument(indexer, body), 'item').map(readItem)
}

/** Each of these elements has to be there, and the addresses have to be absolute. */
function readItem(item: Element): Release {
  const text = (name: string): string => {
    const value = childOf(item, name)?.text
    if (value === undefined || value === '') throw new ToolError(`An item has no ${name}`)
    return value
  }
  const address = (name: string): string => {
    if (!URL.canParse(text(name))) throw new ToolError(`Invalid URI: ${name}`)
    return text(name)
  }
  const [infoHash] = torznabValues(item, 'infohash')
  if (infoHash === undefined) throw new ToolError('An item has no infohash')
  address('comments')
  const published = Date.parse(text('pubDate'))
  if (Number.isNaN(published)) throw new ToolError('Not a date')
  const last = childrenOf(item, 'category').at(-1)
  return {
    title: text('title'),
    guid: address('guid'),
    link: address('link'),
    size: wholeNumber(torznabValues(item, 'size')[0] ?? childOf(item, 'size')?.text, 'The size'),
    published,
    // Of several categories the last element counts.
    categories: [wholeNumber(last?.text ?? torznabValues(item, 'category')[0], 'The category')],
    seeders: Number(torznabValues(item, 'seeders')[0]),
    peers: Number(torznabValues(item, 'peers')[0]),
    infoHash,
  }
}
