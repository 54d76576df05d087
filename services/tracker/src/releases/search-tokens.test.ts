import { expect, test } from '@jest/globals'
import { indexTokens, queryTokens } from './search-tokens.ts'

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
