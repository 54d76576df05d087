import type { Caps } from '../caps/caps.ts'
import type { SearchFunction, SearchParameter } from '../query/functions.ts'
import { cleanText } from '../xml/escape-xml.ts'
import { mappedCategories } from './definition-categories.ts'

/** An indexer whose Torznab API is at `api/torznab` of its site. */
export type Definition = Pick<Caps, 'registration' | 'supported' | 'categories'> & {
  readonly title: string
  /** Absolute, with a slash at the end. */
  readonly siteUrl: string
  /** Absolute URL of the page where users find their key. */
  readonly keyUrl: string
  /** The time between requests that stays below the limits. */
  readonly requestDelaySeconds: number
}

/** The modes of a definition, and the parameters that its format knows. */
const MODES: readonly (readonly [mode: string, function_: SearchFunction, known: readonly SearchParameter[]])[] = [
  ['search', 'search', ['q']],
  ['tv-search', 'tvsearch', ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid']],
  ['movie-search', 'movie', ['q', 'imdbid', 'tmdbid', 'year']],
  ['music-search', 'music', ['q', 'artist', 'album', 'year']],
  ['book-search', 'book', ['q', 'author', 'title', 'year']],
]

/**
 * A Cardigann definition (version 11), with which Prowlarr and Jackett read this indexer. It contains no key: the user
 * enters theirs in the program.
 */
export function writeDefinition(definition: Definition): string {
  const { title, siteUrl, keyUrl, registration, supported, categories, requestDelaySeconds } = definition
  const mappings = mappedCategories(categories).map(
    ({ id, standard, name }) => `\n    - {id: ${id}, cat: ${yaml(standard)}, desc: ${yaml(name)}}`,
  )
  const modes = MODES.flatMap(([mode, name, known]) => {
    const names = supported[name].filter((parameter) => known.includes(parameter))
    return names.length === 0 ? [] : [`    ${mode}: [${names.join(', ')}]\n`]
  })
  return `---
id: ${yaml(new URL(siteUrl).host.replace(/[^a-z0-9]+/g, '-'))}
name: ${yaml(title)}
description: ${yaml(`${title} is a private torrent tracker`)}
language: en-US
type: ${registration.open ? 'semi-private' : 'private'}
encoding: UTF-8
requestDelay: ${requestDelaySeconds}
links:
  - ${yaml(siteUrl)}

caps:
  categorymappings:${mappings.length === 0 ? ' []' : mappings.join('')}

  modes:
${modes.join('')}  allowtvsearchimdb: ${supported.tvsearch.includes('imdbid')}

settings:
  - name: apikey
    type: text
    label: API token or passkey
  - name: info_key
    type: info
    label: About the key
    default: ${yaml(`Create an API token with the scopes torznab and download on <a href="${keyUrl}" target="_blank">your account page</a>, or use your passkey.`)}
${SEARCH}`
}

/** The rest, which is the same for all sites. `year` is not sent for series, whose searches do not support it. */
const SEARCH = `
login:
  path: api/torznab
  method: get
  inputs:
    apikey: "{{ .Config.apikey }}"
    t: search
    limit: 0
  error:
    - selector: error[description]
      message:
        selector: error[description]
        attribute: description

search:
  paths:
    - path: api/torznab
      response:
        type: xml

  inputs:
    apikey: "{{ .Config.apikey }}"
    t: "{{ .Query.Type }}"
    q: "{{ .Query.Q }}"
    cat: "{{ join .Categories \\",\\" }}"
    season: "{{ .Query.Season }}"
    ep: "{{ .Query.Ep }}"
    imdbid: "{{ .Query.IMDBID }}"
    tmdbid: "{{ .Query.TMDBID }}"
    tvdbid: "{{ .Query.TVDBID }}"
    artist: "{{ .Query.Artist }}"
    album: "{{ .Query.Album }}"
    author: "{{ .Query.Author }}"
    title: "{{ .Query.Title }}"
    year: "{{ if eq .Query.Type \\"tvsearch\\" }}{{ else }}{{ .Query.Year }}{{ end }}"
    limit: 100

  rows:
    selector: rss > channel > item

  fields:
    category:
      selector: "[name=category]"
      attribute: value
    title:
      selector: title
    details:
      selector: comments
    download:
      selector: enclosure
      attribute: url
    imdbid:
      selector: "[name=imdbid]"
      attribute: value
    tmdbid:
      selector: "[name=tmdbid]"
      attribute: value
    tvdbid:
      selector: "[name=tvdbid]"
      attribute: value
    date:
      selector: pubDate
      filters:
        - name: dateparse
          args: "ddd, dd MMM yyyy HH:mm:ss zzz"
    size:
      selector: "[name=size]"
      attribute: value
    files:
      selector: "[name=files]"
      attribute: value
    grabs:
      selector: "[name=grabs]"
      attribute: value
    seeders:
      selector: "[name=seeders]"
      attribute: value
    leechers:
      selector: "[name=leechers]"
      attribute: value
    downloadvolumefactor:
      selector: "[name=downloadvolumefactor]"
      attribute: value
    uploadvolumefactor:
      selector: "[name=uploadvolumefactor]"
      attribute: value
    minimumseedtime:
      selector: "[name=minimumseedtime]"
      attribute: value
      optional: true
    minimumratio:
      selector: "[name=minimumratio]"
      attribute: value
      optional: true
`

/** A double-quoted scalar of YAML 1.1 and 1.2. Unlike JSON, YAML has no surrogate pairs. */
function yaml(text: string): string {
  return JSON.stringify(cleanText(text)).replace(
    /[^\x20-\x7e]/gu,
    (character) => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  )
}
