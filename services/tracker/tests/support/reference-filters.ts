import type { Release } from '../../src/releases/release.ts'
import { memberWords, splitExclusions } from '../../src/releases/search-words.ts'
import { matchesEpisode } from './episode-match.ts'

/** A torrent of a test's catalogue. */
export type Catalogued = {
  readonly id: string
  readonly tokens: readonly string[]
  readonly release: Release
  readonly state: string
  /** Its category and the parent of that. */
  readonly categorySlugs: readonly string[]
  readonly ids: Readonly<Record<'imdb' | 'tmdb' | 'tvdb', number | null>>
  readonly size: number
  readonly created: number
  readonly seeders: number
  readonly marks: Readonly<Record<'freeleech' | 'internal' | 'scene', boolean>>
  readonly uploader: string | undefined
  /** Whether other members do not know the uploader. */
  readonly anonymous: boolean
}

/** What a member did with a torrent. */
export type Transfer = {
  readonly isSnatched: boolean
  readonly lastState: 'seeder' | 'leecher' | 'stopped'
  readonly lastSeen: number
}

type Context = {
  readonly filters: Readonly<Record<string, string>>
  readonly member: string
  /** Of the member, by torrent. */
  readonly transfers: ReadonlyMap<string, Transfer>
  readonly now: number
  readonly peerTtlMs: number
}

/** Whether a list with these filters has a torrent: the reference for the index. */
export function matchesFilters(torrent: Catalogued, context: Context): boolean {
  return (
    torrent.state === 'approved' &&
    Object.entries(context.filters).every(([name, value]) => matches(torrent, name, value, context))
  )
}

function matches(torrent: Catalogued, name: string, value: string, context: Context): boolean {
  const { release, ids, size, created, seeders, uploader, anonymous } = torrent
  const values = value.split(',')
  const hasOne = (...own: readonly (string | null)[]): boolean =>
    own.some((each) => each !== null && values.includes(each))
  switch (name) {
    case 'search':
      return hasWords(torrent, value)
    case 'category':
      return hasOne(...torrent.categorySlugs)
    case 'resolution':
    case 'source':
    case 'codec':
      return hasOne(release[name])
    case 'hdr':
    case 'audio':
      return hasOne(...release[name])
    case 'language':
      return hasOne(...release.languages)
    case 'year':
      return release.year !== null && isWithin(release.year, value)
    case 'season':
    case 'episode':
      return matchesNumbers(torrent, context.filters)
    case 'minSize':
      return size >= Number(value)
    case 'maxSize':
      return size <= Number(value)
    case 'maxAge':
      return created > context.now - Number(value) * 86_400_000
    case 'freeleech':
    case 'internal':
    case 'scene':
      return torrent.marks[name] === (value === 'true')
    case 'alive':
      return seeders > 0 === (value === 'true')
    case 'uploader':
      return uploader?.toLowerCase() === value && (!anonymous || uploader === context.member)
    case 'tmdb': {
      const [id, kind] = value.split('/').toReversed()
      const root = kind === 'movie' ? 'movies' : kind
      return ids.tmdb === Number(id) && (root === undefined || torrent.categorySlugs.includes(root))
    }
    case 'imdb':
    case 'tvdb':
      return ids[name] === Number(value.replace('tt', ''))
    case 'mine':
      return isMine(torrent, value, context)
    default:
      throw new Error(`no reference for ${name}`)
  }
}

function rangeOf(value: string): { from: number; to: number } {
  const [from = '', to = from] = value.split('-')
  return { from: Number(from), to: Number(to) }
}

function isWithin(number: number, value: string): boolean {
  const { from, to } = rangeOf(value)
  return number >= from && number <= to
}

function matchesNumbers({ release }: Catalogued, { season, episode }: Context['filters']): boolean {
  const seasons = season === undefined ? undefined : rangeOf(season)
  if (episode !== undefined)
    return matchesEpisode(release, { kind: 'episode', season: seasons, episode: rangeOf(episode) })
  return seasons === undefined || matchesEpisode(release, { kind: 'season', season: seasons })
}

function hasWords({ tokens }: Catalogued, search: string): boolean {
  const { text, without } = splitExclusions(search)
  const { words, prefixes } = memberWords(text)
  return (
    words.every((word) => tokens.includes(word)) &&
    (prefixes.length === 0 || tokens.some((token) => prefixes.some((prefix) => token.startsWith(prefix)))) &&
    !without.some((all) => all.every((word) => tokens.includes(word)))
  )
}

function isMine({ id, uploader }: Catalogued, state: string, { member, transfers, now, peerTtlMs }: Context): boolean {
  const own = transfers.get(id)
  switch (state) {
    case 'snatched':
      return own?.isSnatched === true
    case 'seeding':
      return own?.lastState === 'seeder' && own.lastSeen > now - peerTtlMs
    case 'unseen':
      return own === undefined && uploader !== member
    default:
      throw new Error(`no reference for ${state}`)
  }
}
