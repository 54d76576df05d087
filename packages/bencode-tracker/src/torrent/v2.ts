import type { BencodeDict } from '../bencode/decode.ts'
import { bytesOf, dictOf, utf8Text } from '../bencode/fields.ts'
import { TorrentError } from './error.ts'
import { joinPath } from './paths.ts'
import type { TorrentFile } from './torrent.ts'
import { hasAttribute, readLength, refuseLink } from './v1.ts'

/** A file of a BEP 52 file tree. An empty file has no root of a hash tree. */
export type V2File = {
  readonly piecesRoot: Buffer | undefined
} & TorrentFile

const ROOT_LENGTH = 32

/** Reads `file tree` (BEP 52) in order, without padding. @throws {TorrentError} */
export function readFileTree(info: BencodeDict, maxFiles: number): V2File[] {
  const tree = dictOf(info.entries.get('file tree'))
  // An empty name marks the properties of a file, and the root of the tree must not be a file.
  if (tree === undefined || tree.entries.has('')) throw new TorrentError('invalid_file_tree')
  const files: V2File[] = []
  collect(tree, [], files, maxFiles)
  if (files.length === 0) throw new TorrentError('invalid_file_tree')
  return files
}

// The recursion is as deep as the tree, which the decoder limits.
function collect(folder: BencodeDict, parents: readonly string[], files: V2File[], maxFiles: number): void {
  for (const [key, value] of folder.entries) {
    const name = utf8Text(Buffer.from(key, 'latin1'))
    if (name === undefined) throw new TorrentError('invalid_path')
    const entry = dictOf(value)
    if (entry === undefined) throw new TorrentError('invalid_file_tree')
    const components = [...parents, name]
    const properties = entry.entries.get('')
    if (properties === undefined) {
      collect(entry, components, files, maxFiles)
      continue
    }
    const file = dictOf(properties)
    if (file === undefined || entry.entries.size !== 1) throw new TorrentError('invalid_file_tree')
    if (files.length === maxFiles) throw new TorrentError('too_many_files')
    const read = readFile(file, components)
    if (!hasAttribute(file, 'p')) files.push(read)
  }
}

function readFile(file: BencodeDict, components: readonly string[]): V2File {
  refuseLink(file)
  const path = joinPath(components)
  const length = readLength(file.entries.get('length'))
  const piecesRoot = bytesOf(file.entries.get('pieces root'))
  if (length === 0) return { path, length, piecesRoot: undefined }
  if (piecesRoot?.length !== ROOT_LENGTH) throw new TorrentError('invalid_pieces_root')
  return { path, length, piecesRoot }
}
