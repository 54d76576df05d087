import { describe, expect, test } from '@jest/globals'
import npmBencode from 'bencode'
import { buildTorrentFile, prepareUpload, TorrentError } from '../src/index.ts'
import { BencodeError, decodeBencode, encodeBencode, parseTorrent, RawBencode } from '../src/testing.ts'
import { toPlain } from './support/plain.ts'
import { encodeFixture, hybridFixture, multiFile, singleFile, v2Fixture } from './support/torrents.ts'

const SITE = { source: 'SITE' }
const ANNOUNCE = `https://tracker.example/announce?passkey=${'0'.repeat(40)}`

describe('prepareUpload', () => {
  test('sets private and source, and takes the info hash of that', () => {
    const upload = singleFile()
    const torrent = prepareUpload(upload, SITE)
    expect(torrent).toMatchObject({ private: true, source: 'SITE', version: 'v1', totalSize: 100_000 })
    expect(torrent.infoHash).toBe(parseTorrent(singleFile({ private: 1, source: 'SITE' })).infoHash)
    expect(torrent.infoHash).not.toBe(parseTorrent(upload).infoHash)
  })

  test('replaces another private and another source', () => {
    const torrent = prepareUpload(singleFile({ private: 0, source: 'ELSEWHERE' }), SITE)
    expect(torrent).toMatchObject({ private: true, source: 'SITE' })
  })

  test('returns the same torrent for its own copy', () => {
    const first = prepareUpload(singleFile({}, { comment: 'x' }), SITE)
    const second = prepareUpload(buildTorrentFile({ ...first, announceUrl: ANNOUNCE }), SITE)
    expect(second).toEqual(first)
  })

  test('drops info keys that do not describe the content', () => {
    const marked = singleFile({ entropy: 'x', x_cross_seed: 'y', publisher: 'z', profiles: [], md5sum: 'm' })
    expect(prepareUpload(marked, SITE)).toEqual(prepareUpload(singleFile(), SITE))
  })

  test('removes comments from the outer dictionary', () => {
    const notes = { comment: 'für alle', 'created by': 'mktorrent', 'creation date': 1_700_000_000, encoding: 'UTF-8' }
    expect(prepareUpload(singleFile({}, notes), SITE)).toEqual(prepareUpload(singleFile(), SITE))
    const malformed = { comment: 1, 'created by': Buffer.from([0xff]), 'creation date': -1, encoding: [] }
    expect(prepareUpload(singleFile({}, malformed), SITE)).toEqual(prepareUpload(singleFile(), SITE))
  })

  test('copies kept values byte for byte', () => {
    const upload = encodeFixture(hybridFixture())
    const before = decodeBencode(parseTorrent(upload).infoSlice)
    const after = decodeBencode(prepareUpload(upload, SITE).infoSlice)
    expect(toPlain(after)).toEqual({ ...Object(toPlain(before)), private: 1, source: 'SITE' })
  })

  test('keeps both hashes and the piece layers of a hybrid', () => {
    const upload = encodeFixture(hybridFixture())
    const torrent = prepareUpload(upload, SITE)
    expect(torrent.version).toBe('hybrid')
    expect(torrent.infoHashV2).not.toBe(parseTorrent(upload).infoHashV2)
    expect(torrent.pieceLayersSlice).toEqual(parseTorrent(upload).pieceLayersSlice)
  })

  test('keeps the version of a torrent of version 2', () => {
    const torrent = prepareUpload(encodeFixture(v2Fixture()), SITE)
    expect(torrent).toMatchObject({ version: 'v2', private: true, source: 'SITE' })
  })

  test('sorts the outer keys of a careless upload and leaves the files as they were', () => {
    const files = 'ld4:pathl1:ae6:lengthi1eee'
    const info = `d4:name1:a5:files${files}6:pieces20:${'x'.repeat(20)}12:piece lengthi16384ee`
    const upload = Buffer.from(`d4:info${info}7:comment1:ce`)
    expect(() => prepareUpload(upload, SITE)).toThrow(TorrentError)
    const torrent = prepareUpload(upload, { ...SITE, requireSortedKeys: false })
    expect(torrent.infoSlice.toString()).toBe(
      `d5:files${files}4:name1:a12:piece lengthi16384e6:pieces20:${'x'.repeat(20)}7:privatei1e6:source4:SITEe`,
    )
  })

  test('does not apply the size limit of uploads to the longer copy', () => {
    const info = { length: 1, name: 'a', 'piece length': 16_384, pieces: 'x'.repeat(20) }
    const upload = encodeBencode({ info })
    const bounds = { maxBytes: upload.length, maxValues: 6, maxStringLength: 20 }
    const torrent = prepareUpload(upload, { ...bounds, source: 'a source longer than any string of the upload' })
    expect(torrent.source).toBe('a source longer than any string of the upload')
  })

  test('refuses the same files as parseTorrent', () => {
    expect(() => prepareUpload(singleFile({ private: 2 }), SITE)).toThrow(TorrentError)
    expect(() => prepareUpload(multiFile([], 0), SITE)).toThrow(TorrentError)
    expect(() => prepareUpload(Buffer.from('x'), SITE)).toThrow(TorrentError)
  })
})

describe('buildTorrentFile', () => {
  const torrent = prepareUpload(singleFile(), SITE)

  test('has these bytes', () => {
    const file = buildTorrentFile({
      infoSlice: Buffer.from('d4:name1:ae'),
      pieceLayersSlice: Buffer.from('de'),
      announceUrl: 'http://a/',
      furtherTiers: [['ws://b/', 'ws://c/']],
      comment: 'ü',
      createdBy: 'x',
      creationDate: 7,
      encoding: 'UTF-8',
    })
    expect(file.toString('latin1')).toBe(
      'd8:announce9:http://a/13:announce-listll9:http://a/el7:ws://b/7:ws://c/ee7:comment2:\xc3\xbc' +
        '10:created by1:x13:creation datei7e8:encoding5:UTF-84:infod4:name1:ae12:piece layersdee',
    )
  })

  test('has only the announce URL and the info slice by default', () => {
    const file = buildTorrentFile({ infoSlice: Buffer.from('de'), announceUrl: 'http://a/', furtherTiers: [] })
    expect(file.toString()).toBe('d8:announce9:http://a/4:infodee')
  })

  test('keeps the info slice and so the info hash', () => {
    const file = buildTorrentFile({ ...torrent, announceUrl: ANNOUNCE, comment: 'https://tracker.example/torrents/1' })
    expect(file.includes(torrent.infoSlice)).toBe(true)
    expect(parseTorrent(file)).toEqual(torrent)
  })

  test('keeps a hybrid valid', () => {
    const hybrid = prepareUpload(encodeFixture(hybridFixture()), SITE)
    const file = buildTorrentFile({ ...hybrid, announceUrl: ANNOUNCE, furtherTiers: [['wss://tracker.example/']] })
    expect(parseTorrent(file)).toEqual(hybrid)
  })

  test('writes bencode that our encoder and the npm decoder agree on', () => {
    const file = buildTorrentFile({ ...torrent, announceUrl: ANNOUNCE, comment: 'c', creationDate: 1 })
    const info = new RawBencode(torrent.infoSlice)
    expect(file).toEqual(encodeBencode({ announce: ANNOUNCE, comment: 'c', 'creation date': 1, info }))
    expect(npmBencode.decode(file)).toMatchObject({
      announce: new Uint8Array(Buffer.from(ANNOUNCE)),
      'creation date': 1,
    })
  })

  test.each([1.5, -1, Number.NaN])('refuses a creation date of %d', (creationDate) => {
    expect(() => buildTorrentFile({ ...torrent, announceUrl: ANNOUNCE, creationDate })).toThrow(BencodeError)
  })
})
