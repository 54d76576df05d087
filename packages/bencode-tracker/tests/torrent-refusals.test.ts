import { describe, expect, test } from '@jest/globals'
import { TorrentError, type TorrentErrorCode } from '../src/index.ts'
import { BencodeError, encodeBencode, parseTorrent } from '../src/testing.ts'
import { refusal } from './support/refusal.ts'
import {
  content,
  encodeFixture,
  file,
  multiFile,
  PIECE_LENGTH,
  piecesOf,
  singleFile,
  v2Fixture,
} from './support/torrents.ts'

describe('parseTorrent refuses', () => {
  test('what is not bencode, with the cause', () => {
    expect.assertions(2)
    try {
      parseTorrent(Buffer.from('<html>'))
    } catch (error) {
      expect(error).toBeInstanceOf(TorrentError)
      expect(error instanceof TorrentError && error.cause).toBeInstanceOf(BencodeError)
    }
  })

  const pieces = piecesOf(content(100_000))
  const refusals: [string, () => Uint8Array, TorrentErrorCode][] = [
    ['an empty file', () => Buffer.alloc(0), 'invalid_bencode'],
    ['data behind the file', () => Buffer.concat([singleFile(), Buffer.from('\n')]), 'invalid_bencode'],
    ['a list', () => Buffer.from('le'), 'not_a_dictionary'],
    ['a file without info', () => Buffer.from('de'), 'missing_info'],
    ['an info that is no dictionary', () => Buffer.from('d4:info0:e'), 'missing_info'],
    ['encrypted files', () => singleFile({ encrypted_files: 'x' }), 'encrypted'],
    ['encrypted files outside the info', () => singleFile({}, { encrypted_files: 'x' }), 'encrypted'],
    ['meta version 1', () => singleFile({ 'meta version': 1 }), 'unsupported_version'],
    [
      'meta version 3 before anything else',
      () => encodeBencode({ info: { 'meta version': 3 } }),
      'unsupported_version',
    ],
    ['a meta version that is no integer', () => singleFile({ 'meta version': '2' }), 'unsupported_version'],
    ['no name', () => singleFile({ name: undefined }), 'invalid_name'],
    ['an empty name', () => singleFile({ name: '' }), 'invalid_name'],
    ['a name that is no string', () => singleFile({ name: 1 }), 'invalid_name'],
    ['a name that is not UTF-8', () => singleFile({ name: Buffer.from([0xff]) }), 'invalid_name'],
    ['a name of one dot', () => singleFile({ name: '.' }), 'invalid_name'],
    ['a name of two dots', () => singleFile({ name: '..' }), 'invalid_name'],
    ['a name with a slash', () => singleFile({ name: 'a/b' }), 'invalid_name'],
    ['a name with a backslash', () => singleFile({ name: 'a\\b' }), 'invalid_name'],
    ['a name with NUL', () => singleFile({ name: 'a\0' }), 'invalid_name'],
    [
      'a name.utf-8 that is not plain',
      () => singleFile({ name: Buffer.from([0xff]), 'name.utf-8': '..' }),
      'invalid_name',
    ],
    ['no piece length', () => singleFile({ 'piece length': undefined }), 'invalid_piece_length'],
    ['a piece length of 0', () => singleFile({ 'piece length': 0 }), 'invalid_piece_length'],
    ['a negative piece length', () => singleFile({ 'piece length': -PIECE_LENGTH }), 'invalid_piece_length'],
    ['a piece length of 8 KiB', () => singleFile({ 'piece length': 8192 }), 'invalid_piece_length'],
    ['a piece length of 48 KiB', () => singleFile({ 'piece length': 49_152 }), 'invalid_piece_length'],
    ['a piece length of 512 MiB', () => singleFile({ 'piece length': 2 ** 29 }), 'invalid_piece_length'],
    ['no pieces', () => singleFile({ pieces: undefined }), 'invalid_pieces'],
    ['pieces that are no string', () => singleFile({ pieces: 1 }), 'invalid_pieces'],
    ['pieces of 79 bytes', () => singleFile({ pieces: pieces.subarray(1) }), 'invalid_pieces'],
    ['a piece too few', () => singleFile({ pieces: pieces.subarray(20) }), 'piece_count_mismatch'],
    [
      'a piece too many',
      () => singleFile({ pieces: Buffer.concat([pieces, Buffer.alloc(20)]) }),
      'piece_count_mismatch',
    ],
    ['neither length nor files', () => singleFile({ length: undefined }), 'invalid_files'],
    ['both length and files', () => singleFile({ files: [file(['a'])] }), 'invalid_files'],
    ['a negative length', () => singleFile({ length: -1 }), 'invalid_length'],
    ['a length that is no integer', () => singleFile({ length: '1' }), 'invalid_length'],
    ['a total size of 0', () => singleFile({ length: 0, pieces: '' }), 'no_content'],
    ['an empty list of files', () => multiFile([], 0), 'invalid_files'],
    ['files that are no list', () => multiFile({}, 0), 'invalid_files'],
    ['a file that is no dictionary', () => multiFile([1], 0), 'invalid_files'],
    ['a file without a length', () => multiFile([{ path: ['a'] }], 0), 'invalid_length'],
    ['a file of negative length', () => multiFile([file(['a'], -1), file(['b'], 2)], 1), 'invalid_length'],
    [
      'lengths that add up beyond 2^53',
      () => multiFile([file(['a'], 2 ** 53 - 1), file(['b'], 1)], 1),
      'invalid_length',
    ],
    ['nothing but padding', () => multiFile([file(['a'], 1, { attr: 'p' })], 1), 'no_content'],
    ['a file without a path', () => multiFile([{ length: 1 }], 1), 'invalid_path'],
    ['an empty path', () => multiFile([file([])], 1), 'invalid_path'],
    ['a path that is no list', () => multiFile([file('a')], 1), 'invalid_path'],
    ['a path with a number', () => multiFile([file([1])], 1), 'invalid_path'],
    ['a path that is not UTF-8', () => multiFile([file([Buffer.from([0xff])])], 1), 'invalid_path'],
    ['a path with an empty component', () => multiFile([file(['a', ''])], 1), 'invalid_path'],
    ['a path that climbs out', () => multiFile([file(['..', 'a'])], 1), 'invalid_path'],
    ['a path with a component of one dot', () => multiFile([file(['.', 'a'])], 1), 'invalid_path'],
    ['a path with a slash in a component', () => multiFile([file(['../a'])], 1), 'invalid_path'],
    ['a path with a backslash in a component', () => multiFile([file(['..\\a'])], 1), 'invalid_path'],
    ['a path with NUL', () => multiFile([file(['a\0'])], 1), 'invalid_path'],
    [
      'a padding path that climbs out',
      () => multiFile([file(['a']), file(['..'], 1, { attr: 'p' })], 2),
      'invalid_path',
    ],
    ['a path of more than 1024 bytes', () => multiFile([file(['ü'.repeat(513)])], 1), 'invalid_path'],
    ['a path of more than 64 components', () => multiFile([file(Array.from('x'.repeat(65)))], 1), 'invalid_path'],
    [
      'a path.utf-8 that climbs out',
      () => multiFile([file([Buffer.from([0xff])], 1, { 'path.utf-8': ['..'] })], 1),
      'invalid_path',
    ],
    ['the same path twice', () => multiFile([file(['a', 'b']), file(['a', 'b'])], 2), 'duplicate_path'],
    ['a file with the path of a later folder', () => multiFile([file(['a']), file(['a', 'b'])], 2), 'duplicate_path'],
    [
      'a file with the path of an earlier folder',
      () => multiFile([file(['a', 'b', 'c']), file(['a'])], 2),
      'duplicate_path',
    ],
    ['a link by its attribute', () => multiFile([file(['a'], 1, { attr: 'l' })], 1), 'symbolic_link'],
    ['a link by its target', () => multiFile([file(['a'], 1, { 'symlink path': ['b'] })], 1), 'symbolic_link'],
    ['a single file that is a link', () => singleFile({ attr: 'xl' }), 'symbolic_link'],
    ['private=2', () => singleFile({ private: 2 }), 'invalid_private'],
    ['a private flag that is no integer', () => singleFile({ private: '1' }), 'invalid_private'],
  ]
  test.each(refusals)('%s', (_fact, make, code) => {
    expect(refusal(make())).toBe(code)
  })

  test('more files than allowed', () => {
    const two = multiFile([file(['a']), file(['b'])], 2)
    expect(refusal(two, { maxFiles: 2 })).toBeUndefined()
    expect(refusal(two, { maxFiles: 1 })).toBe('too_many_files')
    expect(refusal(encodeFixture(v2Fixture()), { maxFiles: 3 })).toBeUndefined()
    expect(refusal(encodeFixture(v2Fixture()), { maxFiles: 2 })).toBe('too_many_files')
  })

  test('a piece length above the allowed maximum', () => {
    expect(refusal(singleFile(), { maxPieceLength: PIECE_LENGTH })).toBeUndefined()
    expect(refusal(singleFile(), { maxPieceLength: PIECE_LENGTH / 2 })).toBe('invalid_piece_length')
  })

  test('a file above the allowed size', () => {
    expect(refusal(singleFile(), { maxBytes: 100 })).toBe('invalid_bencode')
  })
})
