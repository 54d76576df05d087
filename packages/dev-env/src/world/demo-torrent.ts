import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** The size of the pieces of demo torrents with content. */
export const PIECE_BYTES = 256 * 1024

/** Fixed, random-looking bytes. */
export function demoContent(name: string, bytes: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(name).digest()
}

/** The SHA-1 of each piece. */
export function pieceHashes(content: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(content.length / PIECE_BYTES) }, (_, i) =>
    createHash('sha1')
      .update(content.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES))
      .digest(),
  )
}

/** Writes a file with fixed, random-looking bytes unless it exists. */
export function generateFile(file: string, bytes: number): void {
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.draft`, demoContent('demo', bytes))
  renameSync(`${file}.draft`, file)
}

/** The .torrent of one file, for a private tracker. */
export function torrentOf(file: string, announce: string): Buffer {
  const content = readFileSync(file)
  const pieces = pieceHashes(content)
  const text = (value: string): string => `${Buffer.byteLength(value)}:${value}`
  return Buffer.concat([
    Buffer.from(`d8:announce${text(announce)}4:infod6:lengthi${content.length}e4:name${text(basename(file))}`),
    Buffer.from(`12:piece lengthi${PIECE_BYTES}e6:pieces${pieces.length * 20}:`),
    ...pieces,
    Buffer.from('7:privatei1eee'),
  ])
}
