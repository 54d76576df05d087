import { describe, expect, test } from '@jest/globals'
import { RELEASE_NAMES } from '../../tests/data/release-names.ts'
import { CATALOGUE } from '../../tests/data/search-quality.ts'
import { parseReleaseName } from './release-name.ts'
import {
  indexTokens,
  memberWords,
  orInitials,
  queryTokens,
  releaseTokens,
  searchWords,
  splitExclusions,
} from './search-words.ts'

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

  test.each([...new Set([...RELEASE_NAMES, ...CATALOGUE].map(({ name }) => name))])('every word of %s', (name) => {
    expect(tokensOf(name)).toEqual(expect.arrayContaining([...searchWords(name)]))
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
  ['Show S01E05E06', ['show', 's01e05', 's01e06']],
  ['Show S01E05-E06', ['show', 's01e05', 's01e06']],
  ['Show S01E05.E06', ['show', 's01e05', 's01e06']],
  ['Show S01E05-06', ['show', 's01e05', 's01e06']],
  ['Show S01E05-720p', ['show', 's01e05', '720p']],
  ['show s03e105', ['show', 's03e105']],
  ['1920x1080 wallpapers', ['1920x1080', 'wallpapers']],
  ['Anime 07', ['anime', '07']],
  ['the season', ['season']],
  ['!!!', []],
])('%s asks for %j', (query, words) => {
  expect(searchWords(query)).toEqual(words)
})

test.each([
  ['harb', [], ['harb']],
  ['harbour wat', ['harbour'], ['wat']],
  ['harbour s0', ['harbour'], ['s0']],
  ['harbour s1', ['harbour'], ['s1', 's01']],
  ['harbour s01', ['harbour'], ['s01']],
  ['harbour season 1', ['harbour'], ['s1', 's01']],
  ['harbour s01e', ['harbour'], ['s01e']],
  ['harbour s01e0', ['harbour'], ['s01e0']],
  ['harbour s1e1', ['harbour'], ['s01e1', 's01e01']],
  ['harbour s01e12', ['harbour'], ['s01e12']],
  ['harbour 1x05', ['harbour'], ['s01e05']],
  ['harbour 2020', ['harbour'], ['2020']],
  ['show a', [], ['show']],
  ['show x', ['show', 'x'], []],
  ['東京喰種', ['東京', '京喰'], ['喰種']],
  ['?', [], []],
])('a member who types %s means %j and a word that begins with one of %j', (query, words, prefixes) => {
  expect(memberWords(query)).toEqual({ words, prefixes })
})

test.each([
  [
    'M A S H',
    [
      ['m', 'mash'],
      ['s', 'mash'],
      ['h', 'mash'],
    ],
  ],
  ['P S I Love You', [['p', 'psi', 'ps'], ['s', 'psi', 'ps'], ['i', 'psi'], ['love'], ['you']]],
  ['Vitamin C', [['vitamin'], ['c']]],
])('in the search %s, initials may also be one word: %j', (query, words) => {
  expect(orInitials(searchWords(query), query)).toEqual(words)
})

test.each([
  ['harbour -x264', 'harbour', [['x264']]],
  ['-web-dl -S1E2 harbour', 'harbour', [['web', 'dl'], ['s01e02']]],
  ['harbour -"dead calm" tide -"x264"', 'harbour   tide', [['dead', 'calm'], ['x264']]],
  ['harbour -“dead”', 'harbour', [['dead']]],
  ['harbour -"dead', 'harbour', [['dead']]],
  ['harbour - tide', 'harbour - tide', []],
  ['Example.Show-GROUP', 'Example.Show-GROUP', []],
  ['harbour -!', 'harbour -!', []],
  ['-the', '', [['the']]],
])('%s is a search for %j without %j', (query, text, without) => {
  const split = splitExclusions(query)
  expect([split.text.trim(), split.without]).toEqual([text, without])
})

test.each([
  ['Example.Show.S01E01.1080p.WEB-DL.H264-GRP', ['example', 'show', 's01e01', '1080p', 'web', 'dl', 'h264', 'grp']],
  ["Don't Look_Up!", ['dont', 'look', 'up']],
  ['Law & Order', ['law', 'and', 'order']],
  ['Éxample Ångström straße Łódź smørrebrød', ['example', 'angstrom', 'strasse', 'lodz', 'smorrebrod']],
  ['S.W.A.T.2017', ['s', 'w', 'a', 't', '2017', 'swat']],
  ['P.S.I.Love', ['p', 's', 'i', 'love', 'psi', 'ps']],
  ['Đường Viðar Ħaż Işık Ŧa Þór', ['duong', 'vidar', 'haz', 'isik', 'ta', 'thor']],
  ['Don′t Hawaiʻi', ['dont', 'hawaii']],
  ['Hyphen\u00adated ❤\ufe0f 👨\u200d👩 می\u200cخواهم', ['hyphenated', 'میخواهم']],
  ['Ｆｕｌｌ Ｗｉｄｔｈ', ['full', 'width']],
  ['Привет, мир', ['привет', 'мир']],
  ['東京喰種', ['東', '京', '喰', '種', '東京', '京喰', '喰種']],
  ['Tokyo東京2', ['tokyo', '東', '京', '東京', '2']],
  ['...---...', []],
])('%s is found by %j', (text, tokens) => {
  expect(indexTokens(text)).toEqual(tokens)
})

test.each([
  ['The Example and the Show', ['example', 'show']],
  ['the', ['the']],
  ['the a and', ['the', 'a', 'and']],
  ['same SAME Same', ['same']],
  ['東京喰種', ['東京', '京喰', '喰種']],
  ['東', ['東']],
  ["' & | ! <-> :* \\ ()", ['and']],
])('the query %j asks for %j', (query, tokens) => {
  expect(queryTokens(query)).toEqual(tokens)
})

test('a query asks for at most twenty words', () => {
  expect(queryTokens(Array.from({ length: 40 }, (_, i) => `word${i}`).join(' '))).toHaveLength(20)
})

test('a query with the whole name finds every name', () => {
  for (const name of ['S.W.A.T. 東京 & Łódź', 'a-b_c.d', "It's 100% «Ünïcödé»", 'The The', '\u{1F600} smile'])
    expect(indexTokens(name)).toEqual(expect.arrayContaining([...queryTokens(name)]))
})

test('a long word is cut between characters', () => {
  for (const token of [...indexTokens(`a${'𐌰'.repeat(60)}`), ...queryTokens(`a${'𐌰'.repeat(60)}`)])
    expect(encodeURIComponent(token)).toMatch(/^a/)
})
