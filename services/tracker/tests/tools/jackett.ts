import { type Definition, type Field, queryOf, readDefinition, type Variables } from './cardigann.ts'
import { childOf, childrenOf, descendants, type Element } from './element.ts'
import { type Indexer, type Release, readDocument, ToolError, wholeNumber } from './tool.ts'

// Jackett has no generic Torznab indexer: the user gives it the site's definition. Prowlarr reads it in the same way.

/** A search in Jackett; without anything, for the latest releases. */
export type JackettSearch = {
  readonly type?: 'search' | 'tvsearch' | 'movie' | 'music' | 'book'
  /** Without them, all. */
  readonly categories?: readonly number[]
} & Partial<
  Record<
    'Q' | 'Season' | 'Ep' | 'Year' | 'IMDBID' | 'TMDBID' | 'TVDBID' | 'Artist' | 'Album' | 'Author' | 'Title',
    string
  >
>

/** The button "Test": the sign-in of the definition, and an empty search, which has to find something. */
export async function testJackett(indexer: Indexer): Promise<readonly Release[]> {
  const definition = await fetchDefinition(indexer)
  const { path, inputs, error } = definition.login
  const { document } = await request(indexer, definition, path, queryOf(inputs, variablesOf(indexer)))
  for (const { message } of error) {
    const found = document.name === 'error' ? document.attributes[message.attribute] : undefined
    if (found !== undefined) throw new ToolError(found)
  }
  const releases = await searchJackett(indexer)
  if (releases.length === 0) throw new ToolError('Found no results while trying to browse this tracker')
  return releases
}

/** Runs a search with the definition of the site. @throws ToolError if all of it fails */
export async function searchJackett(indexer: Indexer, search: JackettSearch = {}): Promise<readonly Release[]> {
  const definition = await fetchDefinition(indexer)
  const { type = 'search', categories = [], ...query } = search
  const { paths, inputs, rows, fields } = definition.search
  const variables = {
    ...variablesOf(indexer),
    '.Query.Type': type,
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [`.Query.${name}`, value])),
    '.Categories': categories.map(String),
  }
  const { status, document } = await request(indexer, definition, paths[0].path, queryOf(inputs, variables))
  if (status !== 200) throw new ToolError(`Unexpected status ${status}`)
  if (rows.selector !== `${document.name} > channel > item`) throw new ToolError('Error parsing the rows')
  return childrenOf(childOf(document, 'channel'), 'item').map((item) => readItem(item, fields, definition))
}

async function fetchDefinition(indexer: Indexer): Promise<Definition> {
  const url = `${indexer.baseUrl}/api/torznab/definition.yml`
  const response = await indexer.fetch(url, { headers: {}, redirect: 'manual' })
  return readDefinition(await response.text())
}

function variablesOf({ apiKey }: Indexer): Variables {
  return { '.Config.apikey': apiKey }
}

async function request(indexer: Indexer, { links: [site] }: Definition, path: string, query: string) {
  const response = await indexer.fetch(`${new URL(path, site).href}?${query}`, { headers: {}, redirect: 'manual' })
  return { status: response.status, document: await readDocument(indexer, await response.text()) }
}

/** All fields that are not optional have to be there. */
function readItem(item: Element, fields: Definition['search']['fields'], { caps }: Definition): Release {
  const value = (name: string): string => {
    const field = fields[name]
    const found = field && valueOf(item, field)
    if (found === undefined && field?.optional !== true) throw new ToolError(`Error while parsing field ${name}`)
    return found ?? ''
  }
  for (const name of Object.keys(fields)) if (!IDS.has(name)) value(name)
  const category = wholeNumber(value('category'), 'The category')
  if (!caps.categorymappings.some(({ id }) => id === category)) throw new ToolError('Invalid category')
  const published = Date.parse(value('date'))
  if (Number.isNaN(published)) throw new ToolError('Not a date')
  const seeders = wholeNumber(value('seeders'), 'The seeders')
  return {
    title: value('title'),
    guid: new URL(value('details')).href,
    link: new URL(value('download')).href,
    size: wholeNumber(value('size'), 'The size'),
    published,
    categories: [category],
    seeders,
    peers: seeders + wholeNumber(value('leechers'), 'The leechers'),
    infoHash: undefined,
  }
}

/** Jackett treats these as optional in every definition. */
const IDS: ReadonlySet<string> = new Set(['imdbid', 'tmdbid', 'tvdbid'])

/** The text or attribute of the first element that a selector finds: a name, or the value of the attribute `name`. */
function valueOf(item: Element, { selector, attribute }: Field): string | undefined {
  const name = /^\[name=(\w+)\]$/.exec(selector)?.[1]
  const [found] =
    name === undefined
      ? descendants(item, selector)
      : item.children.filter(({ attributes }) => attributes['name'] === name)
  return attribute === undefined ? found?.text : found?.attributes[attribute]
}
