import { expect, test } from '@jest/globals'
import { asciiFileName, safeFileName } from './file-name.ts'

test.each([
  ['a path leads to no other folder', '../../etc/passwd', '__.._etc_passwd'],
  ['a line break ends no header', 'a\r\nX-Evil: 1', 'a__X-Evil_ 1'],
  ['a quote ends no quoted string', 'a"b', 'a_b'],
  ['a file is never hidden', '  ..hidden', '_hidden'],
  ['a mark cannot turn the reading direction', 'gnp\u202eexe.torrent', 'gnp_exe.torrent'],
  ['half a surrogate pair is replaced', '\ud800z', '_z'],
  ['letters of every script stay', 'Ünï 東京 😀', 'Ünï 東京 😀'],
])('%s', (_fact, name, safe) => {
  expect(safeFileName(name)).toBe(safe)
})

test('the ASCII name has one underscore for every other character, and for %, which starts an escape', () => {
  expect(asciiFileName('Ü 東😀 100%.torrent')).toBe('_ __ 100_.torrent')
})
