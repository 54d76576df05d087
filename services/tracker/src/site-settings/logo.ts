import { createHash } from 'node:crypto'
import { apiError } from '../errors.ts'

/** A file that pages may show, named by its content. */
export type Logo = { readonly digest: string; readonly png: Buffer }

export const LOGO_LIMITS = { bytes: 64 * 1024, minPixels: 16, maxPixels: 512 } as const

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Everything that changes the picture. Text, times, profiles and what an application added are left out. */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND'])
/** The length and the type before the data of a chunk, and the checksum after it. */
const HEAD_BYTES = 8
const CHECKSUM_BYTES = 4

/**
 * Checks a PNG file (W3C PNG section 5) and copies the chunks that make up the picture, so that nothing else is published.
 *
 * @throws ApiError BAD_REQUEST
 */
export function readLogo(file: Buffer): Logo {
  const { bytes, minPixels, maxPixels } = LOGO_LIMITS
  if (file.length > bytes) throw malformed(`must be at most ${bytes / 1024} KiB`)
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw malformed('must be a PNG file')
  const chunks = chunksOf(file)
  const [head] = chunks
  const isComplete = chunks.some(({ type }) => type === 'IDAT') && chunks.at(-1)?.type === 'IEND'
  if (head?.type !== 'IHDR' || head.data.length !== 13 || !isComplete) throw malformed('must be a complete PNG file')
  const sides = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)]
  if (sides.some((side) => side < minPixels || side > maxPixels))
    throw malformed(`must be ${minPixels} to ${maxPixels} pixels wide and high`)
  const png = Buffer.concat([SIGNATURE, ...chunks.filter(({ type }) => KEPT.has(type)).map(({ whole }) => whole)])
  return { digest: createHash('sha256').update(png).digest('hex').slice(0, 32), png }
}

type Chunk = { readonly type: string; readonly data: Buffer; readonly whole: Buffer }

/** The chunks up to the end of the picture. */
function chunksOf(file: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = []
  let at = SIGNATURE.length
  while (chunks.at(-1)?.type !== 'IEND') {
    if (at + HEAD_BYTES + CHECKSUM_BYTES > file.length) throw malformed('must be a complete PNG file')
    const end = at + HEAD_BYTES + file.readUInt32BE(at)
    if (end + CHECKSUM_BYTES > file.length) throw malformed('must be a complete PNG file')
    const whole = file.subarray(at, end + CHECKSUM_BYTES)
    chunks.push({ type: whole.toString('latin1', 4, HEAD_BYTES), data: file.subarray(at + HEAD_BYTES, end), whole })
    at = end + CHECKSUM_BYTES
  }
  return chunks
}

function malformed(problem: string): Error {
  return apiError('BAD_REQUEST', `png: ${problem}`)
}
