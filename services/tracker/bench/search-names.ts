import type { Release } from '../src/releases/release.ts'

/** A release with a typical name, its category, and the values in the name. */
export type MadeRelease = {
  readonly name: string
  readonly category: string
  readonly megabytes: number
  readonly ids: { readonly imdb?: number; readonly tmdb?: number; readonly tvdb?: number }
  readonly release: Partial<Release>
}

const SYLLABLES =
  'an ar be bra ca cor da del dra el en fa fer ga gor ha hel in is ka kel la lor ma mar mi mon na nor o or pa per ra rin ro sa sha sol ta ter tha tor u va ver vi wa win ya zen'.split(
    ' ',
  )
const GROUPS =
  'NTb FLUX CMRG TEPES EVO SPARKS GECKOS AMIABLE DIMENSION LOL KILLERS FGT ROVERS ION10 SiGMA RARBG playWEB HONE KOGi XEBEC'.split(
    ' ',
  )
const LANGUAGES = [
  ['GERMAN', 'de'],
  ['FRENCH', 'fr'],
  ['iTALiAN', 'it'],
  ['JAPANESE', 'ja'],
] as const
const AUDIO: readonly (readonly [tag: string, audio: string])[] = [
  ['DDP5.1', 'DDP'],
  ['DD5.1', 'DD'],
  ['AAC2.0', 'AAC'],
  ['DTS-HD.MA.5.1', 'DTS-HD MA'],
]
const SITES = ['AMZN', 'NF', 'DSNP', 'HMAX', 'ATVP', 'HULU']

/**
 * Makes releases of all kinds with the frequencies of a real catalogue: few titles have many releases, words follow Zipf's
 * law, and codecs and resolutions change with the years.
 */
export function createReleaseMaker(random: () => number): (age: number) => MadeRelease {
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  const pad = (n: number): string => String(n).padStart(2, '0')
  const word = (): string => {
    const text = Array.from({ length: int(1, 4) }, () => pick(SYLLABLES)).join('')
    return text.slice(0, 1).toUpperCase() + text.slice(1)
  }
  const vocabulary = [...new Set(['The', 'Of', 'Love', 'Night', 'World', ...Array.from({ length: 150_000 }, word)])]
  // The square puts half of all draws on the first quarter; cubed for titles, whose popularity is steeper.
  const drawn = (items: readonly string[], power: number): string =>
    items[Math.floor(items.length * random() ** power)] ?? ''
  const titles = (count: number, most: number): readonly string[] =>
    Array.from({ length: count }, () => Array.from({ length: int(1, most) }, () => drawn(vocabulary, 2)).join('.'))
  const pools = {
    series: titles(25_000, 4),
    films: titles(90_000, 4),
    anime: titles(4_000, 4),
    artists: titles(25_000, 2),
    authors: titles(15_000, 2),
    books: titles(40_000, 5),
    programs: titles(10_000, 2),
  }
  const popular = (pool: keyof typeof pools): { title: string; number: number } => {
    const number = Math.floor(pools[pool].length * random() ** 3)
    return { title: pools[pool][number] ?? '', number }
  }

  function video(age: number) {
    const modern = random() < age
    const resolution = modern ? pick(['720p', '1080p', '1080p', '1080p', '2160p']) : pick([null, null, '720p', '1080p'])
    const source = modern ? pick(['WEB-DL', 'WEB-DL', 'WEBRip', 'BluRay', 'WEB']) : pick(['HDTV', 'DVD', 'BluRay'])
    const codec =
      resolution === '2160p' ? 'x265' : modern ? pick(['H.264', 'H.264', 'x264', 'x265']) : pick(['XviD', 'x264'])
    const group = pick(GROUPS)
    const [language, code] = random() < 0.15 ? pick(LANGUAGES) : ['', undefined]
    const hdr = resolution === '2160p' && random() < 0.6 ? [pick(['DV', 'HDR10', 'HDR10', 'HDR'])] : []
    const [audioTag, audio] = modern ? pick(AUDIO) : ['', undefined]
    const tags = [
      language,
      random() < 0.03 ? 'REPACK' : random() < 0.03 ? 'PROPER' : '',
      resolution ?? '',
      source.startsWith('WEB-') ? pick(SITES) : '',
      source === 'DVD' ? 'DVDRip' : source,
      audioTag,
      ...hdr,
      codec,
    ]
    return {
      text: `${tags.filter((tag) => tag !== '').join('.')}-${group}`,
      release: {
        ...{ resolution, source, codec, group, hdr },
        ...{ audio: audio === undefined ? [] : [audio], languages: code === undefined ? [] : [code] },
      },
    }
  }

  const quality = (resolution: string | null): string =>
    resolution === '2160p' ? 'uhd' : resolution === null ? 'sd' : 'hd'

  function numbering(age: number) {
    const season = Math.min(int(1, 3) * int(1, 4), 30)
    const kind = random()
    if (kind < 0.08) {
      const airDate = `${2012 + Math.floor(age * 14)}-${pad(int(1, 12))}-${pad(int(1, 28))}`
      return { text: airDate.replaceAll('-', '.'), release: { airDate } }
    }
    const seasons = { seasonFrom: season, seasonTo: season }
    if (kind < 0.2) return { text: `S${pad(season)}`, release: seasons }
    if (kind < 0.21) return { text: `S01-S${pad(season + 1)}`, release: { seasonFrom: 1, seasonTo: season + 1 } }
    const episode = int(1, 24)
    const last = kind < 0.23 ? episode + 1 : episode
    const text = `S${pad(season)}E${pad(episode)}${last > episode ? `E${pad(last)}` : ''}`
    return { text, release: { ...seasons, episodeFrom: episode, episodeTo: last } }
  }

  function series(age: number): MadeRelease {
    const { title, number } = popular('series')
    const [numbers, shape] = [numbering(age), video(age)]
    return {
      name: `${title}.${numbers.text}.${shape.text}`,
      category: `tv-${quality(shape.release.resolution)}`,
      megabytes: int(300, 6_000),
      ids: random() < 0.8 ? { tvdb: 70_000 + number, imdb: 1_000_000 + number } : {},
      release: { title: title.replaceAll('.', ' '), ...numbers.release, ...shape.release },
    }
  }

  function film(age: number): MadeRelease {
    const { title, number } = popular('films')
    const year = 1960 + ((number * 7_919) % 66)
    const shape = video(age)
    return {
      name: `${title}.${year}.${shape.text}`,
      category:
        shape.release.source === 'BluRay' && random() < 0.2
          ? 'movies-bluray'
          : `movies-${quality(shape.release.resolution)}`,
      megabytes: int(700, 40_000),
      ids: random() < 0.8 ? { imdb: 2_000_000 + number, tmdb: 10_000 + number } : {},
      release: { title: title.replaceAll('.', ' '), year, ...shape.release },
    }
  }

  const made = (name: string, category: string, megabytes: number, release: Partial<Release>): MadeRelease => ({
    ...{ name, category, megabytes, release, ids: {} },
  })
  const spaced = (pool: keyof typeof pools): string => popular(pool).title.replaceAll('.', ' ')

  function anime(): MadeRelease {
    const [title, episode] = [spaced('anime'), Math.floor(400 * random() ** 3) + 1]
    const [group, resolution] = [pick(['SubsPlease', 'Erai-raws', 'HorribleSubs']), pick(['720p', '1080p'])]
    const checksum = int(0, 0xfffffff).toString(16).toUpperCase()
    const release = { title, absoluteFrom: episode, absoluteTo: episode, resolution, group }
    const name = `[${group}] ${title} - ${pad(episode)} (${resolution}) [${checksum}].mkv`
    return made(name, 'tv-anime', int(200, 1_500), release)
  }

  function music(): MadeRelease {
    const album = Array.from({ length: int(1, 3) }, () => drawn(vocabulary, 2)).join(' ')
    const [title, year, codec] = [`${spaced('artists')} - ${album}`, int(1970, 2026), pick(['FLAC', 'MP3'])]
    const [medium, category] = codec === 'FLAC' ? ['CD FLAC', 'audio-lossless'] : ['WEB MP3 320', 'audio-mp3']
    return made(`${title} (${year}) [${medium}]`, category, int(60, 600), { title, year, codec })
  }

  function book(): MadeRelease {
    const title = `${spaced('authors')} - ${spaced('books')}`
    const kinds = ['EPUB ebooks', 'PDF ebooks', 'CBZ comics', 'PDF magazines']
    const [format = '', category = ''] = pick(kinds).split(' ')
    return made(`${title} (${int(1980, 2026)}) ${format}`, category, int(1, 80), { title })
  }

  function program(): MadeRelease {
    const { title } = popular('programs')
    const group = pick(['CODEX', 'SKIDROW', 'RELOADED', 'EMPRESS'])
    const category = pick(['games-pc', 'games-playstation', 'software-windows', 'software-macos'])
    const name = `${title}.v${int(1, 9)}.${int(0, 30)}.${int(0, 99)}-${group}`
    return made(name, category, int(50, 90_000), { title: title.replaceAll('.', ' '), group })
  }

  function other(age: number): MadeRelease {
    return { ...film(age), category: random() < 0.98 ? 'xxx' : 'other', ids: {} }
  }

  return (age) => {
    const kind = random()
    if (kind < 0.4) return series(age)
    if (kind < 0.67) return film(age)
    if (kind < 0.73) return anime()
    if (kind < 0.84) return music()
    if (kind < 0.9) return book()
    if (kind < 0.97) return program()
    return other(age)
  }
}
