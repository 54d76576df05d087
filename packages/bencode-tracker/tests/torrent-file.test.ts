import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import { parseTorrent } from '../src/testing.ts'
import { refusal } from './support/refusal.ts'
import {
  encodeFixture,
  file,
  hybridFixture,
  multiFile,
  PIECE_LENGTH,
  singleFile,
  v2Fixture,
} from './support/torrents.ts'

const hex = (algorithm: string, bytes: Uint8Array): string =>
  createHash(algorithm).update(bytes).digest('hex').slice(0, 40)

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

  test('with the info hash that the npm implementation computes', () => {
    const bytes = singleFile()
    const decoded = npmBencode.decode(bytes)
    if (typeof decoded !== 'object' || decoded === null || !('info' in decoded)) throw new TypeError('no info')
    expect(parseTorrent(bytes).infoHash).toBe(hex('sha1', npmBencode.encode(decoded.info)))
  })

  test('with a name.utf-8 next to a name in another encoding', () => {
    const torrent = parseTorrent(singleFile({ name: Buffer.from([0xfc]), 'name.utf-8': 'ü' }))
    expect(torrent.name).toBe('ü')
    expect(torrent.files).toEqual([{ path: 'ü', length: 100_000 }])
  })

  test('with a path.utf-8 next to a path in another encoding', () => {
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
