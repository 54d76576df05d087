import { expect, test } from '@jest/globals'
import { fileRows } from './file-rows.ts'

const drawn = (...paths: string[]) =>
  fileRows(paths.map((path) => ({ path, size: 1 }))).map(
    ({ name, depth, size }) => `${' '.repeat(depth)}${name}${size === undefined ? '/' : ''}`,
  )

test('each folder is a row before its first file, and contains its name only', () => {
  expect(
    drawn('Season 1/e1.mkv', 'Season 1/Extras/a.mkv', 'Season 1/Extras/b.mkv', 'Season 2/e1.mkv', 'readme.txt'),
  ).toEqual(['Season 1/', ' e1.mkv', ' Extras/', '  a.mkv', '  b.mkv', 'Season 2/', ' e1.mkv', 'readme.txt'])
})

test('files of a folder follow each other, although the torrent has others between them', () => {
  expect(drawn('Season 1/e1.mkv', 'readme.txt', 'Season 1/Extras/a.mkv', 'Season 1/e2.mkv')).toEqual([
    'Season 1/',
    ' e1.mkv',
    ' Extras/',
    '  a.mkv',
    ' e2.mkv',
    'readme.txt',
  ])
})

test('a single file has no folder', () => {
  expect(drawn('film.mkv')).toEqual(['film.mkv'])
})
