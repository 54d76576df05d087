import { expect, test } from '@jest/globals'
import { parseMediaInfo, withoutFolders } from './media-info.ts'
import { decodeNfo } from './nfo.ts'

test('an NFO in code page 437 keeps its drawings and has no control characters', () => {
  const bytes = Buffer.from([0xdb, 0xb2, 0x20, 0x01, 0x7f, 0x0d, 0x0a, 0x82, 0x0d, 0x0a, 0x1a, 0x53, 0x41, 0x55])
  expect(decodeNfo(bytes)).toBe('█▓ ☺⌂\né')
})

test('an NFO in UTF-8 loses its byte order mark, colours and marks of direction', () => {
  expect(decodeNfo(Buffer.from('\uFEFF\u001B[1;31mré\u202Esumé\u001B[0m  \n\n\u0007end\n\n'))).toBe('résumé\n\nend')
  expect(decodeNfo(Buffer.from('\0\0'))).toBe('')
})

const MEDIA_INFO = `General
Complete name                            : /home/alice/films/Paper.Moons.2024.mkv
Format                                   : Matroska
Duration                                 : 1 h 42 min

Video
ID                                       : 1
Format                                   : HEVC
HDR format                               : Dolby Vision, Version 1.0, dvhe.08.06 / SMPTE ST 2086, HDR10 compatible
Bit rate                                 : 18.3 Mb/s
Width                                    : 3 840 pixels
Height                                   : 1 608 pixels
Frame rate                               : 23.976 (24000/1001) FPS
Writing library                          : x265 3.5

Audio #1
Format                                   : E-AC-3 JOC
Commercial name                          : Dolby Digital Plus with Dolby Atmos
Channel(s)                               : 6 channels
Language                                 : English

Audio #2
Format                                   : AAC LC
Channel(s)                               : 2 channels
Title                                    : Commentary : part one
Language                                 : German

Text #1
Format                                   : UTF-8
Language                                 : English
Forced                                   : Yes

Text #2
Format                                   : PGS
Language                                 : French (CA)
Forced                                   : No
`

test('MediaInfo is read into tracks', () => {
  expect(parseMediaInfo(MEDIA_INFO)).toEqual({
    container: 'Matroska',
    duration: '1 h 42 min',
    video: [
      {
        ...{ codec: 'x265', width: 3840, height: 1608, resolution: '2160p', hdr: 'DV HDR10' },
        ...{ frameRate: '23.976 (24000/1001) FPS', bitRate: '18.3 Mb/s' },
      },
    ],
    audio: [
      { codec: 'DDP Atmos', channels: '5.1', language: 'English', bitRate: null, title: null },
      { codec: 'AAC LC', channels: '2.0', language: 'German', bitRate: null, title: 'Commentary : part one' },
    ],
    subtitles: [
      { language: 'English', format: 'UTF-8', title: null, isForced: true },
      { language: 'French (CA)', format: 'PGS', title: null, isForced: false },
    ],
  })
})

test.each([
  ['1 920 pixels', '800 pixels', 'Progressive', '1080p'],
  ['1 440 pixels', '1 080 pixels', 'Interlaced', '1080i'],
  ['720 pixels', '576 pixels', '', '576p'],
  ['1 280 pixels', '536 pixels', '', '720p'],
])('%s by %s, %s, is %s', (width, height, scan, resolution) => {
  const text = `Video\nFormat : AVC\nWidth : ${width}\nHeight : ${height}\nScan type : ${scan}`
  expect(parseMediaInfo(text)?.video).toMatchObject([{ codec: 'H.264', resolution }])
})

test('the folders of files, which may name their owner, are removed', () => {
  expect(withoutFolders(MEDIA_INFO)).not.toContain('alice')
  expect(withoutFolders('Complete name : C:\\Users\\alice\\film.mkv\nTitle : a/b')).toBe(
    'Complete name : film.mkv\nTitle : a/b',
  )
})

test('other text has no tracks, and tracks are bounded', () => {
  expect(parseMediaInfo('Nothing to see here.')).toBeUndefined()
  expect(parseMediaInfo('Audio\n\n'.repeat(5_000))?.audio).toHaveLength(100)
})
