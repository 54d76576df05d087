import type { AttributeTypes, FeedItem } from './feed.ts'
import { rfc822Date } from './rfc822-date.ts'

/** The name and value of an extended attribute; several may have the same name. */
export type Attribute = readonly [name: string, value: string | number]

type Writers = { readonly [Name in keyof AttributeTypes]: (value: AttributeTypes[Name]) => readonly Attribute[] }

/** How each known field is written. */
const WRITERS: Writers = {
  // Sonarr, Radarr and Prowlarr read the digits of `imdb`, Jackett's users and autobrr `imdbid`.
  imdb: (id) => {
    const digits = String(id).padStart(7, '0')
    return [
      ['imdb', digits],
      ['imdbid', `tt${digits}`],
    ]
  },
  tmdb: (id) => [['tmdbid', id]],
  tvdb: (id) => [['tvdbid', id]],
  season: (number) => [['season', number]],
  episode: (number) => [['episode', number]],
  airDate: (date) => [['tvairdate', rfc822Date(date)]],
  year: (year) => [['year', year]],
  minimumRatio: (ratio) => [['minimumratio', decimal(ratio)]],
  minimumSeedSeconds: (seconds) => [['minimumseedtime', seconds]],
  tags: (tags) => tags.map((tag) => ['tag', tag]),
  genres: (genres) => (genres.length > 0 ? [['genre', genres.join(', ')]] : []),
  languages: (languages) => languages.map((language) => ['language', language]),
  subtitles: (languages) => languages.map((language) => ['subs', language]),
  coverUrl: (url) => [['coverurl', url]],
  team: (group) => [['team', group]],
  poster: (name) => [['poster', name]],
  resolution: (resolution) => [['resolution', resolution]],
  videoCodec: (codec) => [['video', codec]],
  audioCodec: (codec) => [['audio', codec]],
  showTitle: (title) => [['tvtitle', title]],
  artist: (name) => [['artist', name]],
  album: (title) => [['album', title]],
  label: (name) => [['label', name]],
  bookTitle: (title) => [['booktitle', title]],
  author: (name) => [['author', name]],
  publisher: (name) => [['publisher', name]],
}

const NAMES = Object.keys(WRITERS) as readonly (keyof Writers)[]

/**
 * The extended attributes of an item. `peers` is seeders and leechers together, from which tools take the leechers;
 * the factors are always there, since autobrr takes an absent one for freeleech.
 */
export function attributesOf(item: FeedItem): readonly Attribute[] {
  const { categories, size, files, grabs, seeders, leechers, factors, attributes = {} } = item
  const known: Attribute[] = [
    ...categories.map((id): Attribute => ['category', id]),
    ['size', size],
    ['files', files],
    ['grabs', grabs],
    ['seeders', seeders],
    ['leechers', leechers],
    ['peers', seeders + leechers],
    ['infohash', item.infoHash],
    ['downloadvolumefactor', decimal(factors.download)],
    ['uploadvolumefactor', decimal(factors.upload)],
  ]
  for (const name of NAMES) if (attributes[name] !== undefined) known.push(...written(name, attributes[name]))
  return known
}

function written<Name extends keyof Writers>(
  name: Name,
  value: AttributeTypes[Name] | undefined,
): readonly Attribute[] {
  return value === undefined ? [] : WRITERS[name](value)
}

/** With a point, and at most three places: `0.25`, never `2.5e-1`. */
function decimal(number: number): number {
  return Math.round(number * 1000) / 1000
}
