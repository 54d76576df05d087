import { createHash } from 'node:crypto'
import {
  type BencodeDict,
  BencodeError,
  type BencodeInput,
  type BencodeValue,
  decodeBencode,
  encodeBencode,
  RawBencode,
  rawSlice,
} from 'bencode-tracker'
import { failure } from '../errors.ts'

/** Largest .torrent that is read: enough for a terabyte in 2 MiB pieces. */
export const MAX_TORRENT_BYTES = 10 * 1024 * 1024

/** What a torrent is made of, as we keep and hand it out. */
export type TorrentContent = {
  /** 40 lower-case hex digits. */
  readonly infoHash: string
  /** The truncated second hash of a hybrid torrent. */
  readonly infoHashV2: string | null
  readonly name: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
  /** The bencoded info dictionary. */
  readonly info: Buffer
  /** The bencoded piece layers of v2 (BEP 52). */
  readonly pieceLayers: Buffer | null
}

function dict(value: BencodeValue | undefined): BencodeDict | undefined {
  return value?.kind === 'dict' ? value : undefined
}

function text(value: BencodeValue | undefined): string | undefined {
  return value?.kind === 'bytes' ? value.value.toString('utf8') : undefined
}

/** Reads an uploaded .torrent: private flag and source set, hashes taken after. @throws AppError BAD_REQUEST */
export function readUpload(bytes: Buffer, source: string): TorrentContent {
  try {
    const root = dict(decodeBencode(bytes, { maxBytes: MAX_TORRENT_BYTES }))
    const info = dict(root?.entries.get('info'))
    if (info === undefined) throw failure('BAD_REQUEST', 'torrent: has no info dictionary.')
    const name = text(info.entries.get('name')) ?? ''
    const length = info.entries.get('length')
    const list = info.entries.get('files')
    const files =
      list?.kind === 'list'
        ? list.items.map((item) => {
            const path = dict(item)?.entries.get('path')
            const size = dict(item)?.entries.get('length')
            return {
              path: path?.kind === 'list' ? path.items.map((part) => text(part) ?? '').join('/') : '',
              size: size?.kind === 'integer' ? size.value : 0,
            }
          })
        : [{ path: name, size: length?.kind === 'integer' ? length.value : 0 }]
    const members = new Map<string, BencodeInput>()
    for (const [key, value] of info.entries) members.set(key, new RawBencode(rawSlice(bytes, value)))
    members.set('private', 1)
    members.set('source', source)
    const encoded = encodeBencode(members)
    const layers = root?.entries.get('piece layers')
    return {
      infoHash: createHash('sha1').update(encoded).digest('hex'),
      infoHashV2: info.entries.has('meta version')
        ? createHash('sha256').update(encoded).digest('hex').slice(0, 40)
        : null,
      name,
      size: files.reduce((sum, file) => sum + file.size, 0),
      files,
      info: encoded,
      pieceLayers: layers === undefined ? null : rawSlice(bytes, layers),
    }
  } catch (error) {
    if (error instanceof BencodeError) throw failure('BAD_REQUEST', `torrent: ${error.message}.`)
    throw error
  }
}

/** The .torrent to hand out. */
export function writeTorrentFile(
  content: Pick<TorrentContent, 'info' | 'pieceLayers'>,
  outer: { announce: string; comment: string },
): Buffer {
  return encodeBencode({
    announce: outer.announce,
    comment: outer.comment,
    info: new RawBencode(content.info),
    'piece layers': content.pieceLayers === null ? undefined : new RawBencode(content.pieceLayers),
  })
}
