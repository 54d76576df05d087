import type { BencodeDict, BencodeValue } from '../bencode/decode.ts'
import { bytesOf, dictOf, integerOf, listOf, utf8Text } from '../bencode/fields.ts'
import { TorrentError } from './error.ts'
import { joinPath } from './paths.ts'
import type { TorrentFile } from './torrent.ts'

/** The files and pieces of a BEP 3 info dictionary. */
export type V1Content = {
  readonly files: readonly TorrentFile[]
  readonly multiFile: boolean
  readonly pieceCount: number
}

const SHA1_LENGTH = 20

/** Reads `length` or `files`, and `pieces` (BEP 3; padding and links BEP 47). @throws {TorrentError} */
export function readV1(info: BencodeDict, name: string, pieceLength: number, maxFiles: number): V1Content {
  const multiFile = info.entries.has('files')
  // With both, one client would see a file and another a folder.
  if (multiFile === info.entries.has('length')) throw new TorrentError('invalid_files')
  const entries = multiFile ? readFiles(info, maxFiles) : [readSingleFile(info, name)]
  const sizeWithPadding = sumOfLengths(entries)
  const pieces = bytesOf(info.entries.get('pieces'))
  if (pieces === undefined || pieces.length % SHA1_LENGTH !== 0) throw new TorrentError('invalid_pieces')
  const pieceCount = pieces.length / SHA1_LENGTH
  if (pieceCount !== Math.ceil(sizeWithPadding / pieceLength)) throw new TorrentError('piece_count_mismatch')
  const files = entries.filter((entry) => !entry.padding).map(({ path, length }) => ({ path, length }))
  return { files, multiFile, pieceCount }
}

/** @throws {TorrentError} `invalid_length` if the sum exceeds 2^53 - 1. */
export function sumOfLengths(files: readonly TorrentFile[]): number {
  const sum = files.reduce((total, file) => total + file.length, 0)
  if (!Number.isSafeInteger(sum)) throw new TorrentError('invalid_length')
  return sum
}

/** @throws {TorrentError} `invalid_length` unless the value is an integer from 0. */
export function readLength(value: BencodeValue | undefined): number {
  const length = integerOf(value)
  if (length === undefined || length < 0) throw new TorrentError('invalid_length')
  return length
}

type V1Entry = {
  readonly padding: boolean
} & TorrentFile

function readSingleFile(info: BencodeDict, name: string): V1Entry {
  refuseLink(info)
  return { path: name, length: readLength(info.entries.get('length')), padding: false }
}

function readFiles(info: BencodeDict, maxFiles: number): V1Entry[] {
  const list = listOf(info.entries.get('files'))
  if (list === undefined || list.length === 0) throw new TorrentError('invalid_files')
  if (list.length > maxFiles) throw new TorrentError('too_many_files')
  return list.map(readFile)
}

function readFile(value: BencodeValue): V1Entry {
  const file = dictOf(value)
  if (file === undefined) throw new TorrentError('invalid_files')
  refuseLink(file)
  const components = readPath(file, 'path') ?? readPath(file, 'path.utf-8')
  if (components === undefined) throw new TorrentError('invalid_path')
  return {
    path: joinPath(components),
    length: readLength(file.entries.get('length')),
    padding: hasAttribute(file, 'p'),
  }
}

/** The components under `key`; `undefined` if they are not a list of UTF-8 strings. */
function readPath(file: BencodeDict, key: 'path' | 'path.utf-8'): string[] | undefined {
  const list = listOf(file.entries.get(key))
  if (list === undefined) return undefined
  const components: string[] = []
  for (const item of list) {
    const bytes = bytesOf(item)
    const text = bytes === undefined ? undefined : utf8Text(bytes)
    if (text === undefined) return undefined
    components.push(text)
  }
  return components
}

/** Whether the attributes of BEP 47 contain `letter`. */
export function hasAttribute(file: BencodeDict, letter: 'l' | 'p'): boolean {
  return bytesOf(file.entries.get('attr'))?.includes(letter) ?? false
}

/** Refuses symbolic links, which could lead anywhere on a downloader's disk. @throws {TorrentError} `symbolic_link` */
export function refuseLink(file: BencodeDict): void {
  if (hasAttribute(file, 'l') || file.entries.has('symlink path')) throw new TorrentError('symbolic_link')
}
