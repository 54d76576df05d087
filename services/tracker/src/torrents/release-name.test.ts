import { expect, test } from '@jest/globals'
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
  ['[Group] Anime Title - 07 [1080p]', { title: 'Anime Title - 07', resolution: '1080p', group: 'Group' }],
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

test.each(['S1E1E', 'S01E01-', '2001.', '((((', 'WEB-', '1x02-', '[a'])(
  'a name of %s twenty thousand times is read to its end',
  (part) => {
    expect(parseReleaseName(part.repeat(20_000))).toHaveProperty('title')
  },
)
