import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import {
  BencodeError,
  type BencodeInput,
  encodeBencode,
  parseTorrent,
  RawBencode,
  TorrentError,
  type TorrentErrorCode,
  type TorrentLimits,
} from '../src/index.ts'
import { TORRENT_ERRORS } from '../src/torrent/error.ts'
import {
  content,
  type Dict,
  encodeFixture,
  hybridFixture,
  multiFile,
  PIECE_LENGTH,
  piecesOf,
  singleFile,
  v2Fixture,
} from './support/torrents.ts'

const hex = (algorithm: string, bytes: Uint8Array): string =>
  createHash(algorithm).update(bytes).digest('hex').slice(0, 40)

function refusal(bytes: Uint8Array, limits?: TorrentLimits): TorrentErrorCode | undefined {
  try {
    parseTorrent(bytes, limits)
    return undefined
  } catch (error) {
    if (!(error instanceof TorrentError)) throw error
    expect(error.message).toBe(TORRENT_ERRORS[error.code])
    return error.code
  }
}

const file = (path: BencodeInput, length = 1, more: Dict = {}): BencodeInput => ({ length, path, ...more })

describe('parseTorrent reads version 1', () => {
  test('with one file', () => {
    const bytes = singleFile({ private: 1, source: 'SITE' })
    const torrent = parseTorrent(bytes)
    expect(torrent).toMatchObject({
      version: 'v1',
      infoHashV2: undefined,
      pieceLayersSlice: undefined,
      name: 'a.bin',
      multiFile: false,
      files: [{ path: 'a.bin', length: 100_000 }],
      totalSize: 100_000,
      pieceLength: PIECE_LENGTH,
      pieceCount: 4,
      private: true,
      source: 'SITE',
    })
    expect(bytes.includes(torrent.infoSlice)).toBe(true)
    expect(torrent.infoHash).toBe(hex('sha1', torrent.infoSlice))
  })

  test('with several files, padding not counted', () => {
    const files = [file(['b'], 10), file(['.pad', '22'], 22, { attr: 'p' }), file(['a', 'ü'], 5), file(['z'], 0)]
    expect(parseTorrent(multiFile(files, 37))).toMatchObject({
      name: 'folder',
      multiFile: true,
      files: [
        { path: 'b', length: 10 },
        { path: 'a/ü', length: 5 },
        { path: 'z', length: 0 },
      ],
      totalSize: 15,
      pieceCount: 1,
      private: false,
      source: undefined,
    })
  })

  test('with the same padding path twice, as real programs write it', () => {
    const pad = file(['.pad', '1'], 1, { attr: 'p' })
    expect(parseTorrent(multiFile([file(['a']), pad, file(['b']), pad], 4)).files.length).toBe(2)
  })

  test('with the info hash that the npm implementation comes to', () => {
    const bytes = singleFile()
    const decoded = npmBencode.decode(bytes)
    if (typeof decoded !== 'object' || decoded === null || !('info' in decoded)) throw new TypeError('no info')
    expect(parseTorrent(bytes).infoHash).toBe(hex('sha1', npmBencode.encode(decoded.info)))
  })

  test('with a name.utf-8 beside a name of another encoding', () => {
    const torrent = parseTorrent(singleFile({ name: Buffer.from([0xfc]), 'name.utf-8': 'ü' }))
    expect(torrent.name).toBe('ü')
    expect(torrent.files).toEqual([{ path: 'ü', length: 100_000 }])
  })

  test('with a path.utf-8 beside a path of another encoding', () => {
    const files = [file([Buffer.from([0xfc])], 1, { 'path.utf-8': ['ü'] })]
    expect(parseTorrent(multiFile(files, 1)).files).toEqual([{ path: 'ü', length: 1 }])
  })

  test('with private=0 and with a source that is not UTF-8', () => {
    expect(parseTorrent(singleFile({ private: 0, source: Buffer.from([0xff]) }))).toMatchObject({
      private: false,
      source: undefined,
    })
  })

  test('with keys out of order when the caller asks for it, hashing the bytes as they are', () => {
    const info = `d4:name1:a6:lengthi1e12:piece lengthi16384e6:pieces20:${'x'.repeat(20)}e`
    const bytes = Buffer.from(`d4:info${info}8:announce1:ae`)
    expect(refusal(bytes)).toBe('invalid_bencode')
    expect(parseTorrent(bytes, { requireSortedKeys: false }).infoHash).toBe(hex('sha1', Buffer.from(info)))
  })

  test('into copies that do not follow the input', () => {
    const bytes = singleFile()
    const torrent = parseTorrent(bytes)
    bytes.fill(0)
    expect(torrent.infoHash).toBe(hex('sha1', torrent.infoSlice))
  })
})

describe('parseTorrent reads version 2', () => {
  test('with the SHA-256 cut to 20 bytes for its info hash', () => {
    const torrent = parseTorrent(encodeFixture(v2Fixture()))
    expect(torrent).toMatchObject({
      version: 'v2',
      multiFile: true,
      files: [
        { path: 'a/long.bin', length: 5 * PIECE_LENGTH + 1 },
        { path: 'a/short.bin', length: PIECE_LENGTH },
        { path: 'empty.txt', length: 0 },
      ],
      totalSize: 6 * PIECE_LENGTH + 1,
      pieceCount: 7,
    })
    expect(torrent.infoHash).toBe(hex('sha256', torrent.infoSlice))
    expect(torrent.infoHashV2).toBe(torrent.infoHash)
  })

  test('with one file named like the torrent as a single file', () => {
    const leaf = { '': { length: 1, 'pieces root': Buffer.alloc(32) } }
    const info = { ...v2Fixture().info, 'file tree': { folder: leaf } }
    expect(parseTorrent(encodeFixture({ info, layers: new Map() }))).toMatchObject({ multiFile: false, totalSize: 1 })
  })

  test('as one half of a hybrid, with both info hashes over the same bytes', () => {
    const bytes = encodeFixture(hybridFixture())
    const torrent = parseTorrent(bytes)
    expect(torrent).toMatchObject({ version: 'hybrid', pieceCount: 7, totalSize: 6 * PIECE_LENGTH + 1 })
    expect(torrent.files).toEqual(parseTorrent(encodeFixture(v2Fixture())).files)
    expect(torrent.infoHash).toBe(hex('sha1', torrent.infoSlice))
    expect(torrent.infoHashV2).toBe(hex('sha256', torrent.infoSlice))
    expect(torrent.pieceLayersSlice && bytes.includes(torrent.pieceLayersSlice)).toBe(true)
  })
})

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

describe('parseTorrent refuses of version 2', () => {
  const withTree = (tree: BencodeInput): (() => Uint8Array) => {
    return () => encodeFixture({ info: { ...v2Fixture().info, 'file tree': tree }, layers: new Map() })
  }
  const leaf = (length: number, more: Dict = {}): Dict => ({ '': { length, 'pieces root': Buffer.alloc(32), ...more } })
  const withLayers = (change: (layers: Map<string, Buffer>) => void): (() => Uint8Array) => {
    return () => {
      const fixture = v2Fixture()
      change(fixture.layers)
      return encodeFixture(fixture)
    }
  }
  const withHybrid = (change: (files: Dict[]) => unknown): (() => Uint8Array) => {
    return () => {
      const fixture = hybridFixture()
      const files: Dict[] = [
        { length: 5 * PIECE_LENGTH + 1, path: ['a', 'long.bin'] },
        { attr: 'p', length: PIECE_LENGTH - 1, path: ['.pad', '1'] },
        { length: PIECE_LENGTH, path: ['a', 'short.bin'] },
        { length: 0, path: ['empty.txt'] },
      ]
      change(files)
      return encodeFixture({ ...fixture, info: { ...fixture.info, files } })
    }
  }
  const refusals: [string, () => Uint8Array, TorrentErrorCode][] = [
    [
      'no file tree',
      () => encodeBencode({ info: { ...v2Fixture().info, 'file tree': undefined } }),
      'invalid_file_tree',
    ],
    ['a file tree that is no dictionary', withTree([]), 'invalid_file_tree'],
    ['an empty file tree', withTree({}), 'invalid_file_tree'],
    ['a file tree that is a file itself', withTree(leaf(1)), 'invalid_file_tree'],
    ['a file tree of empty folders', withTree({ a: {} }), 'invalid_file_tree'],
    ['an entry that is no dictionary', withTree({ a: 1 }), 'invalid_file_tree'],
    ['properties that are no dictionary', withTree({ a: { '': 1 } }), 'invalid_file_tree'],
    ['a file with something beside it', withTree({ a: { ...leaf(1), b: leaf(1) } }), 'invalid_file_tree'],
    ['a name that climbs out', withTree({ '..': leaf(1) }), 'invalid_path'],
    ['a folder that climbs out', withTree({ '..': { a: leaf(1) } }), 'invalid_path'],
    ['a name with a slash', withTree({ 'a/b': leaf(1) }), 'invalid_path'],
    ['a name that is not UTF-8', withTree({ '\xff': leaf(1) }), 'invalid_path'],
    ['a file without a length', withTree({ a: { '': { 'pieces root': Buffer.alloc(32) } } }), 'invalid_length'],
    ['a file of negative length', withTree({ a: leaf(-1) }), 'invalid_length'],
    ['a link', withTree({ a: leaf(1, { attr: 'l' }) }), 'symbolic_link'],
    ['a total size of 0', withTree({ a: { '': { length: 0 } } }), 'no_content'],
    ['a file without a pieces root', withTree({ a: { '': { length: 1 } } }), 'invalid_pieces_root'],
    ['a pieces root of 31 bytes', withTree({ a: leaf(1, { 'pieces root': Buffer.alloc(31) }) }), 'invalid_pieces_root'],
    ['no piece layers', () => encodeBencode({ info: v2Fixture().info }), 'invalid_piece_layers'],
    [
      'piece layers that are no dictionary',
      () => encodeBencode({ info: v2Fixture().info, 'piece layers': [] }),
      'invalid_piece_layers',
    ],
    ['a missing piece layer', withLayers((layers) => layers.clear()), 'invalid_piece_layers'],
    [
      'a piece layer of no file',
      withLayers((layers) => layers.set('x'.repeat(32), Buffer.alloc(64))),
      'invalid_piece_layers',
    ],
    [
      'a piece layer under the wrong root',
      withLayers((layers) => {
        const [layer = Buffer.alloc(0)] = layers.values()
        layers.clear()
        layers.set('x'.repeat(32), layer)
      }),
      'invalid_piece_layers',
    ],
    [
      'a piece layer that is too short',
      withLayers((layers) => {
        for (const [root, layer] of layers) layers.set(root, layer.subarray(32))
      }),
      'invalid_piece_layers',
    ],
    [
      'a piece layer with one wrong bit',
      withLayers((layers) => {
        for (const layer of layers.values()) layer[100] = (layer[100] ?? 0) ^ 1
      }),
      'piece_layer_mismatch',
    ],
    [
      'files of different lengths with one pieces root',
      withTree({ a: leaf(PIECE_LENGTH * 2), b: leaf(PIECE_LENGTH * 3) }),
      'invalid_piece_layers',
    ],
    ['a hybrid with other files', withHybrid((files) => files.splice(3, 1)), 'hybrid_mismatch'],
    [
      'a hybrid with another path',
      withHybrid((files) => files.splice(3, 1, { length: 0, path: ['empty.md'] })),
      'hybrid_mismatch',
    ],
    [
      'a hybrid with the files in another order',
      withHybrid((files) => files.unshift(...files.splice(2, 1))),
      'hybrid_mismatch',
    ],
    [
      'a hybrid with another length',
      withHybrid((files) => files.splice(1, 2, { length: 2 * PIECE_LENGTH - 1, path: ['a', 'short.bin'] })),
      'hybrid_mismatch',
    ],
    [
      'a hybrid without the files of version 1',
      () => {
        const { info, layers } = hybridFixture()
        return encodeFixture({ info: { ...info, files: undefined }, layers })
      },
      'invalid_files',
    ],
  ]
  test.each(refusals)('%s', (_fact, make, code) => {
    expect(refusal(make())).toBe(code)
  })

  test('nothing of the same hybrid unchanged', () => {
    expect(refusal(withHybrid(() => undefined)())).toBeUndefined()
  })

  test('a tree deeper than the decoder allows', () => {
    const deep = `${'d1:a'.repeat(100)}d0:d6:lengthi1eee${'e'.repeat(100)}`
    const info = { ...v2Fixture().info, 'file tree': new RawBencode(Buffer.from(deep)) }
    expect(refusal(encodeFixture({ info, layers: new Map() }))).toBe('invalid_bencode')
  })
})
