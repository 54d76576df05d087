import { describe, expect, test } from '@jest/globals'
import { type TorrentErrorCode } from '../src/index.ts'
import { type BencodeInput, encodeBencode, RawBencode } from '../src/testing.ts'
import { refusal } from './support/refusal.ts'
import { type Dict, encodeFixture, hybridFixture, PIECE_LENGTH, v2Fixture } from './support/torrents.ts'

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
    ['a file with an extra entry', withTree({ a: { ...leaf(1), b: leaf(1) } }), 'invalid_file_tree'],
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
