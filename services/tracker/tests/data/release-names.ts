import { readFileSync } from 'node:fs'

/** The values expected from a name. Omitted values are expected to be null, false or an empty list. */
export type ReleaseNameCase = { readonly kind: string; readonly name: string; readonly expected: ExpectedRelease }

export type ExpectedRelease = {
  title: string | null
  year: number | null
  seasonFrom: number | null
  seasonTo: number | null
  episodeFrom: number | null
  episodeTo: number | null
  absoluteFrom: number | null
  absoluteTo: number | null
  airDate: string | null
  resolution: string | null
  source: string | null
  codec: string | null
  group: string | null
  hdr: readonly string[]
  audio: readonly string[]
  channels: string | null
  languages: readonly string[]
  editions: readonly string[]
  isProper: boolean
  isRepack: boolean
  format: string | null
  platform: string | null
  kind: string | null
}

const KINDS = ['series', 'dailies', 'anime', 'films', 'music', 'books', 'others', 'more'] as const

/** The table: names as uploaders write them, with invented titles, and the values expected from each. */
export const RELEASE_NAMES: readonly ReleaseNameCase[] = KINDS.flatMap((kind) => {
  const text = readFileSync(new URL(`release-names/${kind}.txt`, import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line.includes('=>'))
  return lines.map((line): ReleaseNameCase => {
    const [name = '', facts = ''] = line.split(/ ?=> ?/)
    return { kind, name, expected: readFacts(facts) }
  })
})

/** `Title; season 1; episodes 2-3; source WEB-DL; proper`: the title first, then facts in any order. */
function readFacts(text: string): ExpectedRelease {
  const [title = '', ...facts] = text.split('; ')
  const expected: ExpectedRelease = {
    title: title === '' ? null : title,
    year: null,
    seasonFrom: null,
    seasonTo: null,
    episodeFrom: null,
    episodeTo: null,
    absoluteFrom: null,
    absoluteTo: null,
    airDate: null,
    resolution: null,
    source: null,
    codec: null,
    group: null,
    hdr: [],
    audio: [],
    channels: null,
    languages: [],
    editions: [],
    isProper: false,
    isRepack: false,
    format: null,
    platform: null,
    kind: null,
  }
  for (const fact of facts) {
    const space = fact.indexOf(' ')
    const [word, value] = space < 0 ? [fact, ''] : [fact.slice(0, space), fact.slice(space + 1)]
    readFact(expected, word, value)
  }
  return expected
}

function readFact(expected: ExpectedRelease, word: string, value: string): void {
  const [from = Number.NaN, to = from] = value.split('-').map(Number)
  switch (word) {
    case 'season':
    case 'seasons':
      Object.assign(expected, { seasonFrom: from, seasonTo: to })
      break
    case 'episode':
    case 'episodes':
      Object.assign(expected, { episodeFrom: from, episodeTo: to })
      break
    case 'absolute':
    case 'absolutes':
      Object.assign(expected, { absoluteFrom: from, absoluteTo: to })
      break
    case 'year':
      expected.year = from
      break
    case 'aired':
      expected.airDate = value
      break
    case 'resolution':
    case 'source':
    case 'codec':
    case 'group':
    case 'channels':
    case 'format':
    case 'platform':
    case 'kind':
      expected[word] = value
      break
    case 'hdr':
    case 'audio':
    case 'languages':
    case 'editions':
      expected[word] = value.split(',')
      break
    case 'proper':
      expected.isProper = true
      break
    case 'repack':
      expected.isRepack = true
      break
    default:
      throw new Error(`The table of release names has an unknown fact: ${word}`)
  }
}
