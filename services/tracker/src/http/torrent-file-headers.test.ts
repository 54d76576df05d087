import { expect, test } from '@jest/globals'
import { asciiFileName, safeFileName } from './torrent-file-headers.ts'

test.each([
  ['a path stays in its folder', '../../etc/passwd', '__.._etc_passwd'],
  ['a line break does not end a header', 'a\r\nX-Evil: 1', 'a__X-Evil_ 1'],
  ['a quote does not end a quoted string', 'a"b', 'a_b'],
  ['a file is never hidden', '  ..hidden', '_hidden'],
  ['a mark does not change the reading direction', 'gnp\u202eexe.torrent', 'gnp_exe.torrent'],
  ['an unpaired surrogate is replaced', '\ud800z', '_z'],
  ['letters of every script are kept', 'Ünï 東京 😀', 'Ünï 東京 😀'],
])('%s', (_fact, name, safe) => {
  expect(safeFileName(name)).toBe(safe)
})

test('the ASCII name replaces other characters and % with underscores', () => {
  expect(asciiFileName('Ü 東😀 100%.torrent')).toBe('_ __ 100_.torrent')
})
