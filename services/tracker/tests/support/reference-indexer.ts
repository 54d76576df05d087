import {
  capsCategories,
  contentType,
  type FeedItem,
  itemCategories,
  parseTorznabQuery,
  type TorznabError,
  torznabError,
  writeCaps,
  writeError,
  writeFeed,
} from '@vault-and-tracker/torznab-xml'
import { SUPPORTED_PARAMETERS } from '../../src/search/supported-parameters.ts'
import type { Fetch } from '../../web/src/admin/torznab/tools/tool.ts'
import { CATALOGUE, SITE } from '../data/search-quality.ts'
import { searchTorznab } from './reference-search.ts'

const ORIGIN = 'https://tracker.test'
const LIMITS = { default: 25, max: 100 }
const NAMES: Readonly<Record<string, string>> = {
  movies: 'Movies',
  tv: 'TV',
  audio: 'Audio',
  books: 'Books',
  xxx: 'XXX',
}
const TREE = SITE.map((category) => ({ ...category, name: NAMES[category.id] ?? category.name }))

/**
 * An indexer over the catalogue of the tests, in memory: what the tools are tried on before they are let loose on the
 * service.
 *
 * @param change what to spoil of each answer, for a tool to notice
 */
export function createReferenceIndexer(apiKey: string, change = (body: string): string => body): Fetch {
  return (address) => {
    const url = new URL(address)
    if (url.pathname.endsWith('/download')) {
      return Promise.resolve(answer(200, 'application/x-bittorrent', 'd4:infod4:name1:aee'))
    }
    const { status, type, body } = answerTo(url.search.slice(1), apiKey)
    return Promise.resolve(answer(status, type, change(body)))
  }
}

function answer(status: number, type: string, body: string): Response {
  return new Response(body, { status, headers: { 'content-type': type } })
}

function answerTo(rawQuery: string, apiKey: string) {
  const request = parseTorznabQuery(rawQuery, { supported: SUPPORTED_PARAMETERS, limits: LIMITS })
  const refuse = (error: TorznabError) => ({
    status: error.status,
    type: contentType('xml', 'error'),
    body: writeError(error),
  })
  if (!request.ok) return refuse(request.error)
  const { query } = request
  if (query.function === 'caps') return { status: 200, type: contentType('xml', 'caps'), body: writeCaps(caps()) }
  if (request.apiKey !== apiKey) return refuse(torznabError('incorrectCredentials'))
  if (query.function === 'details') return refuse(torznabError('noSuchItem'))
  const found = new Set(searchTorznab(rawQuery))
  const items = CATALOGUE.map((entry, i) => itemOf(entry, i, apiKey)).filter((_, i) =>
    found.has(CATALOGUE[i]?.key ?? ''),
  )
  const page = items.reverse().slice(query.offset, query.offset + query.limit)
  const place = { siteUrl: ORIGIN, selfUrl: `${ORIGIN}/api/torznab`, offset: query.offset, total: items.length }
  const body = writeFeed({ title: 'Reference', description: '', ...place, items: page })
  return { status: 200, type: contentType('xml', 'feed'), body }
}

function caps() {
  return {
    server: { title: 'Reference', url: ORIGIN },
    limits: LIMITS,
    registration: { available: false, open: false },
    supported: SUPPORTED_PARAMETERS,
    categories: capsCategories(TREE),
    tags: [],
  }
}

function itemOf({ name, category }: (typeof CATALOGUE)[number], i: number, apiKey: string): FeedItem {
  const infoHash = i.toString(16).padStart(40, '0')
  return {
    title: name,
    detailsUrl: `${ORIGIN}/torrents/${i}`,
    downloadUrl: `${ORIGIN}/api/torznab/download?id=${infoHash}&apikey=${apiKey}`,
    commentsUrl: `${ORIGIN}/torrents/${i}#comments`,
    publishedAt: new Date(Date.UTC(2024, 0, 1, 0, i)),
    size: 1_000_000 + i,
    files: 1,
    grabs: 2,
    description: '',
    categories: itemCategories(category, SITE),
    seeders: 3,
    leechers: 1,
    infoHash,
    factors: { download: 1, upload: 1 },
  }
}
