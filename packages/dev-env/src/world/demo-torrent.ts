import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

const PIECE_BYTES = 256 * 1024

/** Writes a file of that size unless it exists. Its bytes are always the same, and no two blocks are equal. */
export function generateFile(file: string, bytes: number): void {
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const blocks: Buffer[] = []
  for (let at = 0; at < bytes; at += 64) blocks.push(createHash('sha512').update(`demo ${at}`).digest())
  writeFileSync(`${file}.draft`, Buffer.concat(blocks).subarray(0, bytes))
  renameSync(`${file}.draft`, file)
}

/** The .torrent of one file, for a private tracker. */
export function torrentOf(file: string, announce: string): Buffer {
  const content = readFileSync(file)
  const pieces: Buffer[] = []
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    const piece = content.subarray(at, at + PIECE_BYTES)
    pieces.push(createHash('sha1').update(piece).digest())
  }
  const name = basename(file)
  return Buffer.concat([
    Buffer.from(`d8:announce${text(announce)}4:infod6:lengthi${content.length}e4:name${text(name)}`),
    Buffer.from(`12:piece lengthi${PIECE_BYTES}e6:pieces${pieces.length * 20}:`),
    ...pieces,
    Buffer.from('7:privatei1eee'),
  ])
}

function text(value: string): string {
  return `${Buffer.byteLength(value)}:${value}`
}
