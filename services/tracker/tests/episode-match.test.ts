import { describe, expect, test } from '@jest/globals'
import type { WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { parseReleaseName } from '../src/releases/release-name.ts'
import { matchesEpisode } from './support/episode-match.ts'

const one = (number: number) => ({ from: number, to: number })
const season = (number: number): WantedEpisode => ({ kind: 'season', season: one(number) })
const episode = (of: number | undefined, number: number): WantedEpisode => ({
  kind: 'episode',
  season: of === undefined ? undefined : one(of),
  episode: one(number),
})
const found = (wanted: WantedEpisode, names: readonly string[]) =>
  names.filter((name) => matchesEpisode(parseReleaseName(name), wanted))

const SHOW = [
  'Show.S01E05.720p.x264',
  'Show 1x05 HDTV',
  'Show.S01E04E05.720p.x264',
  'Show.S01E04-E06.720p.x264',
  'Show.S01E06.720p.x264',
  'Show.S02E05.720p.x264',
  'Show.S01.720p.x264',
  'Show.S01-S03.720p.x264',
  'Show Season 2 720p',
  'Show.S00E05.720p.x264',
  'Show.S00.Specials.720p.x264',
] as const
const DAILY = ['Daily.2024.05.31.720p.x264', 'Daily.2024.05.30.720p.x264', 'Daily.2023.05.31.720p.x264'] as const
const ANIME = ['[G] Anime - 05 [720p]', '[G] Anime - 01-12 [720p]', '[G] Anime S2 - 05 [720p]'] as const

describe('a search for a', () => {
  test.each([
    ['episode', episode(1, 5), SHOW.slice(0, 4)],
    ['special', episode(0, 5), [SHOW[9]]],
    ['number in any season', episode(undefined, 5), [...SHOW.slice(0, 4), SHOW[5], SHOW[9]]],
    ['season', season(1), [...SHOW.slice(0, 5), SHOW[6], SHOW[7]]],
    ['season inside a pack of several', season(3), [SHOW[7]]],
    ['season that is spelled out', season(2), [SHOW[5], SHOW[7], SHOW[8]]],
    ['season of specials', season(0), [SHOW[9], SHOW[10]]],
  ])('%s', (_name, wanted, expected) => {
    expect(found(wanted, SHOW)).toEqual(expected)
  })

  test('missing episode finds nothing', () => {
    expect(found(episode(1, 99), SHOW)).toEqual([])
    expect(found({ kind: 'airDate', date: '2024-05-31' }, SHOW)).toEqual([])
  })

  test('range finds overlapping releases', () => {
    expect(found({ kind: 'episode', season: one(1), episode: { from: 6, to: 9 } }, SHOW)).toEqual([SHOW[3], SHOW[4]])
    expect(found({ kind: 'season', season: { from: 2, to: 3 } }, SHOW)).toEqual([SHOW[5], SHOW[7], SHOW[8]])
  })

  test('day finds episodes aired on it', () => {
    expect(found({ kind: 'airDate', date: '2024-05-31' }, DAILY)).toEqual([DAILY[0]])
  })

  test('year finds episodes aired in it, and seasons named by it', () => {
    expect(found(season(2024), DAILY)).toEqual([DAILY[0], DAILY[1]])
    expect(found(season(2022), ['Show.S2022E14.720p.x264', ...DAILY])).toEqual(['Show.S2022E14.720p.x264'])
  })

  test('number finds absolute numbers without a season and in the first', () => {
    expect(found(episode(undefined, 5), ANIME)).toEqual([...ANIME])
    expect(found(episode(1, 5), ANIME)).toEqual([ANIME[0], ANIME[1]])
    expect(found(episode(2, 5), ANIME)).toEqual([ANIME[2]])
  })
})
