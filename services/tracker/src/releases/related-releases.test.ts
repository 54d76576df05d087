import { expect, test } from '@jest/globals'
import { familyFor } from './leaf-category.ts'
import { type KnownRelease, relatedKeys, relationOf, releaseKeys } from './related-releases.ts'
import { parseReleaseName } from './release-name.ts'

const NO_IDS = { imdb: null, tmdb: null, tvdb: null }

function known(name: string, ids: Partial<KnownRelease['externalIds']> = {}): KnownRelease {
  return { release: parseReleaseName(name), externalIds: { ...NO_IDS, ...ids } }
}

/** The relation as the catalogue finds it: only torrents that share a key are compared. */
function relate(one: KnownRelease, two: KnownRelease): string | undefined {
  const stored = new Set(releaseKeys(two))
  return relatedKeys(one).some((key) => stored.has(key)) ? relationOf(one, two) : undefined
}

const FILM = 'Paper.Moons.2024.1080p.WEB-DL.H.264-ONE'

test.each([
  [FILM, 'Paper Moons (2024) 1080p WEB-DL H.264-TWO', 'duplicate'],
  [FILM, 'Paper.Moons.2024.1080p.WEB.x264-TWO', 'duplicate'],
  ['Amélie.2001.1080p.BluRay.x264-A', 'Amelie.2001.1080p.BluRay.x264-B', 'duplicate'],
  [FILM, 'Paper.Moons.2024.2160p.WEB-DL.H.264-ONE', 'version'],
  [FILM, 'Paper.Moons.2024.1080p.WEB-DL.DV.H.264-ONE', 'version'],
  [FILM, 'Paper.Moons.2024.Extended.1080p.WEB-DL.H.264-ONE', 'version'],
  [FILM, 'Paper.Moons.1984.1080p.WEB-DL.H.264-ONE', undefined],
  [FILM, 'Paper.Moons.2024.S01E01.1080p.WEB-DL.H.264-ONE', undefined],
  ['Paper.Moons.2024.PROPER.1080p.WEB-DL.H.264-TWO', FILM, 'replaced'],
  [FILM, 'Paper.Moons.2024.PROPER.1080p.WEB-DL.H.264-TWO', 'replacement'],
  ['Paper.Moons.2024.REPACK.1080p.WEB-DL.H.264-ONE', FILM, 'replaced'],
  ['Paper.Moons.2024.REPACK.1080p.WEB-DL.H.264-TWO', FILM, 'duplicate'],
  ['Show.S01E02.720p.HDTV.x264-A', 'Show.S01E02.720p.HDTV.x264-B', 'duplicate'],
  ['Show.S01E02.720p.HDTV.x264-A', 'Show.S01E03.720p.HDTV.x264-A', undefined],
  ['Show.S01E02.720p.HDTV.x264-A', 'Show.S01.720p.HDTV.x264-A', 'pack'],
  ['Show.S02E02.720p.HDTV.x264-A', 'Show.S01-S05.720p.HDTV.x264-A', 'pack'],
  ['Show.S01.720p.HDTV.x264-A', 'Show.S01-S05.720p.HDTV.x264-A', 'pack'],
  ['Show.S06E02.720p.HDTV.x264-A', 'Show.S01-S05.720p.HDTV.x264-A', undefined],
  ['Show.S01.720p.HDTV.x264-A', 'Show.S01E02.720p.HDTV.x264-A', undefined],
  ['Show.2024.05.31.720p.HDTV.x264-A', 'Show.2024.05.31.1080p.WEB.h264-A', 'version'],
  ['Show.2024.05.31.720p.HDTV.x264-A', 'Show.2024.06.01.720p.HDTV.x264-A', undefined],
  ['Artist - Album (2001) [FLAC]', 'Artist.Album.2001.FLAC.CD-X', 'version'],
  ['A.Book.2020.EPUB', 'A.Book.2020.EPUB', 'version'],
])('%s: %s is %p', (one, two, relation) => {
  expect(relate(known(one), known(two))).toBe(relation)
})

test('the same id relates different titles, and different ids separate the same title', () => {
  const original = known('La.Lune.2024.1080p.WEB-DL.H.264-A', { imdb: 7 })
  expect(relate(known(FILM, { imdb: 7 }), original)).toBe('duplicate')
  expect(relate(known(FILM, { imdb: 7 }), known(FILM, { imdb: 8 }))).toBeUndefined()
  expect(relate(known(FILM, { imdb: 7 }), known(FILM, { tmdb: 8 }))).toBe('duplicate')
  // TMDB numbers films and series separately.
  expect(relate(known('Other.S01E01.1080p', { tmdb: 7 }), known(FILM, { tmdb: 7 }))).toBeUndefined()
})

test('a name has a bounded number of keys', () => {
  expect(releaseKeys(known('Show.S01-S99.720p', { imdb: 1, tmdb: 1, tvdb: 1 })).length).toBeLessThanOrEqual(4 * 51)
  expect(releaseKeys(known('!!!'))).toEqual([])
})

test.each([
  [FILM, 2000],
  ['Film.2001.DVDRip.XviD-A', 2000],
  ['Show.S01E02.720p.HDTV.x264-A', 5000],
  ['[Group] Anime - 12 [1080p].mkv', 5000],
  ['Artist - Album (2001) [FLAC]', 3000],
  ['Artist-Album-2CD-2001-X', 3000],
  ['A.Book.2020.EPUB', 7000],
  ['Author - Title (Unabridged) M4B', 3000],
  ['Game.Title.PS4-X', 4050],
  ['Program.v2.Windows.x64', 4000],
  ['Program.v2.Linux.ISO', 4000],
  ['Just some words', undefined],
])('the family of %s is %p', (name, family) => {
  expect(familyFor(parseReleaseName(name))).toBe(family)
})
