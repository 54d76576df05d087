import type { AttributeTypes, FeedItem } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** Receives the name and value of an extended attribute. Several may have the same name. */
type Add = (name: string, value: string | number) => void

type Writers = { readonly [Name in keyof AttributeTypes]: (value: AttributeTypes[Name], add: Add) => void }

const as = (name: string) => (value: string | number, add: Add) => add(name, value)

const WRITERS: Writers = {
  // Sonarr, Radarr and Prowlarr read the digits of `imdb`; autobrr and users of Jackett read `imdbid`.
  imdb: (id, add) => {
    const digits = String(id).padStart(7, '0')
    add('imdb', digits)
    add('imdbid', `tt${digits}`)
  },
  tmdb: as('tmdbid'),
  tvdb: as('tvdbid'),
  season: as('season'),
  episode: as('episode'),
  airDate: (date, add) => add('tvairdate', rfc822Date(date)),
  year: as('year'),
  tags: (tags, add) => {
    for (const tag of tags) add('tag', tag)
  },
  team: as('team'),
  poster: as('poster'),
  author: as('author'),
  resolution: as('resolution'),
  videoCodec: as('video'),
  audio: as('audio'),
  hdr: as('hdr'),
  languages: (names, add) => {
    for (const name of names) add('language', name)
  },
  showTitle: as('tvtitle'),
  minimumSeedSeconds: as('minimumseedtime'),
  minimumRatio: as('minimumratio'),
}

const NAMES = Object.keys(WRITERS) as readonly (keyof Writers)[]

/**
 * Passes the extended attributes of an item to a callback, because allocating lists would be most of the cost of a
 * feed. `peers` is the sum of seeders and leechers, from which applications compute the leechers. The rates are
 * always present, because autobrr treats a missing one as freeleech.
 */
export function addAttributes(item: FeedItem, add: Add): void {
  const { categories, seeders, leechers, rates, attributes = {} } = item
  for (const id of categories) add('category', id)
  add('size', item.size)
  add('files', item.files)
  add('grabs', item.grabs)
  add('seeders', seeders)
  add('leechers', leechers)
  add('peers', seeders + leechers)
  add('infohash', item.infoHash)
  add('downloadvolumefactor', decimal(rates.download))
  add('uploadvolumefactor', decimal(rates.upload))
  for (const name of NAMES) if (attributes[name] !== undefined) addOptional(name, attributes[name], add)
}

function addOptional<Name extends keyof Writers>(name: Name, value: AttributeTypes[Name] | undefined, add: Add): void {
  if (value !== undefined) WRITERS[name](value, add)
}

/** A decimal with at most three places: `0.25`, never `2.5e-1`. */
function decimal(number: number): number {
  return Math.round(number * 1000) / 1000
}
