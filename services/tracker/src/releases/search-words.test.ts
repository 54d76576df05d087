import { describe, expect, test } from '@jest/globals'
import { parseReleaseName } from './release-name.ts'
import { memberWords, releaseTokens, searchWords } from './search-words.ts'

const tokensOf = (name: string) => releaseTokens(name, parseReleaseName(name))

describe('a release is found by', () => {
  test.each([
    ['Show.S01E05.1080p.WEB.H264-GRP', ['show', 's01e05', 's01']],
    ['Show 1x05 HDTV', ['show', 's01e05', '1x05', 's01']],
    ['Show.S1E5.HDTV.x264', ['s01e05', 's1e5', 's01']],
    ['Show.S01E05E06.720p.x264', ['s01e05', 's01e06', 's01e05e06']],
    ['Show.S01E01-E03.720p.x264', ['s01e01', 's01e02', 's01e03']],
    ['Show.S01-S03.1080p', ['s01', 's02', 's03']],
    ['Show Season 2 1080p', ['s02', 'season']],
    ['Show.S03E105.1080p', ['s03e105']],
    ['[Group] Anime - 7 [1080p]', ['7', '07', '007']],
    ['[Group] Anime - 07v2 [1080p]', ['7', '07', '007']],
    ['[Group] Anime - 1043 [1080p]', ['1043']],
    ['[Group] Anime - 01-12 [1080p]', ['1', '12', '012']],
  ])('%s: %j', (name, tokens) => {
    expect(tokensOf(name)).toEqual(expect.arrayContaining(tokens))
  })

  test('a pack is not found by each of its episodes', () => {
    expect(tokensOf('Show.S01.1080p').filter((token) => /e\d/.test(token))).toEqual([])
  })

  test('a batch without end has an end', () => {
    expect(tokensOf('[Group] Anime - 0001-9999 [1080p]').length).toBeLessThan(1000)
  })
})

test.each([
  ['Show S01E05', ['show', 's01e05']],
  ['show 1x05', ['show', 's01e05']],
  ['show s1e5', ['show', 's01e05']],
  ['Show S01 E05', ['show', 's01e05']],
  ['show season 1 episode 5', ['show', 's01e05']],
  ['Show Season 1', ['show', 's01']],
  ['show s1', ['show', 's01']],
  ['Show.S01.1080p', ['show', 's01', '1080p']],
  ['show s03e105', ['show', 's03e105']],
  ['1920x1080 wallpapers', ['1920x1080', 'wallpapers']],
  ['Anime 07', ['anime', '07']],
  ['the season', ['season']],
  ['!!!', []],
])('%s asks for %j', (query, words) => {
  expect(searchWords(query)).toEqual(words)
})

test.each([
  ['harb', [], 'harb'],
  ['harbour wat', ['harbour'], 'wat'],
  ['harbour s1', ['harbour'], 's01'],
  ['show a', [], 'show'],
  ['show x', ['show', 'x'], undefined],
  ['東京喰種', ['東京', '京喰'], '喰種'],
  ['?', [], undefined],
])('a member who types %s means %j and a word that begins with %p', (query, words, prefix) => {
  expect(memberWords(query)).toEqual({ words, prefix })
})
