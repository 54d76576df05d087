import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type ExpectedRelease, RELEASE_NAMES } from '../../tests/data/release-names.ts'
import { parseReleaseName, type Release } from './release-name.ts'

const cases: readonly (readonly [string, Partial<Release>])[] = [
  [
    'Example.Show.S01E02.1080p.WEB-DL.H.264-GROUP',
    {
      title: 'Example Show',
      seasonFrom: 1,
      seasonTo: 1,
      episodeFrom: 2,
      episodeTo: 2,
      resolution: '1080p',
      source: 'WEB-DL',
      codec: 'H.264',
      group: 'GROUP',
    },
  ],
  ['Example.Show.S01E02E03E04.720p', { episodeFrom: 2, episodeTo: 4 }],
  ['Example.Show.S01E02-E05.720p', { episodeFrom: 2, episodeTo: 5 }],
  ['Example.Show.S01E02-05.720p', { episodeFrom: 2, episodeTo: 5 }],
  ['Example.Show.S01E02-1080p', { episodeFrom: 2, episodeTo: 2, resolution: '1080p' }],
  ['Example Show 1x05 HDTV', { title: 'Example Show', seasonFrom: 1, episodeFrom: 5, episodeTo: 5, source: 'HDTV' }],
  ['Example Show S00E01 Special', { seasonFrom: 0, episodeFrom: 1 }],
  ['Example.Show.S02.2160p.BluRay.x265-GRP', { seasonFrom: 2, seasonTo: 2, episodeFrom: null, source: 'BluRay' }],
  ['Example.Show.S01-S03.COMPLETE', { seasonFrom: 1, seasonTo: 3 }],
  ['Example Show Season 4', { title: 'Example Show', seasonFrom: 4, seasonTo: 4 }],
  ['Example Show Seasons 1-5', { seasonFrom: 1, seasonTo: 5 }],
  ['Daily.Show.2024.05.31.720p.HDTV.x264-GRP', { title: 'Daily Show', airDate: '2024-05-31', year: 2024 }],
  ['A.Film.1999.DVDRip.XviD-GRP', { title: 'A Film', year: 1999, source: 'DVD', codec: 'XviD', group: 'GRP' }],
  ['2001.A.Film.1968.1080p', { title: '2001 A Film', year: 1968 }],
  [
    '1917.2019.UHD.BluRay.Remux.HEVC',
    { title: '1917', year: 2019, resolution: '2160p', source: 'Remux', codec: 'H.265' },
  ],
  ['[Group] Anime Title - 07 [1080p]', { title: 'Anime Title', resolution: '1080p', group: 'Group' }],
  ['Artist - Album (2003) [FLAC]', { title: 'Artist - Album', year: 2003, codec: 'FLAC' }],
  ['A.Film.2010.1080p.WEB.x264-GRP.mkv', { source: 'WEB', group: 'GRP' }],
  ['just words', { title: 'just words', year: null, seasonFrom: null, resolution: null, group: null }],
  ['well-known', { title: 'well-known', group: null }],
  ['1999', { title: '1999', year: null }],
  ['', { title: null }],
]

test.each(cases)('%s', (name, expected) => {
  expect(parseReleaseName(name)).toMatchObject(expected)
})

/** The order of lists does not matter. */
const inOrder = (release: ExpectedRelease): ExpectedRelease => ({
  ...release,
  hdr: [...release.hdr].sort(),
  audio: [...release.audio].sort(),
  languages: [...release.languages].sort(),
  editions: [...release.editions].sort(),
})

describe('every name of the table', () => {
  test('is one of at least 250', () => {
    expect(RELEASE_NAMES.length).toBeGreaterThanOrEqual(250)
  })

  test.each(RELEASE_NAMES.map(({ name, expected }) => [name, expected] as const))('%s', (name, expected) => {
    expect(inOrder(parseReleaseName(name))).toEqual(inOrder(expected))
  })
})

test.each(['S1E1E', 'S01E01-', '2001.', '((((', 'WEB-', '1x02-', '[a', '01.', '话', 'серия', 'Season 1-'])(
  'a name of %s twenty thousand times is read to its end',
  (part) => {
    expect(parseReleaseName(part.repeat(20_000))).toHaveProperty('title')
  },
)

test.each([
  ['Show.2021.02.31.720p.HDTV.x264-GRP', null],
  ['Show.2023.02.29.720p.HDTV.x264-GRP', null],
  ['Show.2024.02.29.720p.HDTV.x264-GRP', '2024-02-29'],
  ['Show.2021.13.01.720p.HDTV.x264-GRP', null],
  ['Show.31.05.2024.720p.HDTV.x264-GRP', '2024-05-31'],
  ['Show.05.31.2024.720p.HDTV.x264-GRP', '2024-05-31'],
])('the air date of %s is %p', (name, airDate) => {
  expect(parseReleaseName(name).airDate).toBe(airDate)
})

describe('whatever the name', () => {
  const parts = [
    ...[
      'S01',
      'E02',
      '1x03',
      'Season 2',
      ' - 07',
      '[Group]',
      '(2019)',
      '2021.02.30',
      '1080p',
      'WEB-DL',
      'x265',
      '-GRP',
    ],
    ...['Ep 1 - ', 'Seasons 1-', 'S1-S', 'E01-E', 'Vol. 1-', ' to ', '169220804', '65535', '..........', '((((('],
    ...['第07話', 'сезон 2', '东', '.', ' ', '_', '-', '[', ']', '(', ')', '99999999', 'v2', '\uD800', '\u0000', 'é'],
  ]
  const anyName = fc
    .array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 6 }), fc.nat().map(String)), { maxLength: 30 })
    .map((list) => list.join(''))
  const columns = { year: [1900, 2099], seasonFrom: [0, 9999], episodeFrom: [0, 99_999], absoluteFrom: [0, 99_999] }

  test('numbers fit their columns, ranges are in order, days exist', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const release = parseReleaseName(name)
        for (const [field, [least = 0, most = 0]] of Object.entries(columns)) {
          const number = release[field as keyof typeof columns]
          if (number !== null) expect(number >= least && number <= most).toBe(true)
        }
        expect(release.seasonTo ?? 0).toBeGreaterThanOrEqual(release.seasonFrom ?? 0)
        expect(release.episodeTo ?? 0).toBeGreaterThanOrEqual(release.episodeFrom ?? 0)
        expect(release.absoluteTo ?? 0).toBeGreaterThanOrEqual(release.absoluteFrom ?? 0)
        if (release.absoluteFrom !== null) expect(release.seasonFrom).toBeNull()
        const { airDate } = release
        if (airDate !== null) expect(new Date(airDate).toISOString().slice(0, 10)).toBe(airDate)
        expect(release.title).not.toBe('')
      }),
      { numRuns: 2000 },
    )
  })
})

test('a range up to a number that no episode has does not fill the memory', () => {
  for (const last of ['169220804', '999999999999', '4294967296'])
    expect(parseReleaseName(`Show Ep 1 - ${last} 1080p`).resolution).toBe('1080p')
})

test('separators that repeat after a season are read as one', () => {
  for (const separator of ['&', ',', '/', '\\'])
    expect(parseReleaseName(`Show Season 1${separator.repeat(200)} 1080p`)).toMatchObject({
      title: 'Show',
      seasonFrom: 1,
    })
  expect(parseReleaseName('Show Seasons 1 && 2 1080p')).toMatchObject({ seasonFrom: 1, seasonTo: 2 })
})

test('a long name is cut between characters', () => {
  expect(encodeURIComponent(parseReleaseName(`a${'𐌰'.repeat(200)}`).title ?? '')).toMatch(/^a/)
})
