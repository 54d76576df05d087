import { z } from 'zod'
import { MAX_MEDIA_INFO, withoutFolders } from '../releases/media-info.ts'
import { decodeNfo, MAX_NFO_BYTES } from '../releases/nfo.ts'
import { text } from './fields.ts'

/** What an uploader writes about a torrent, in every API. */

export const torrentName = text({ min: 1, max: 255 })
export const description = text({ min: 0, max: 20_000, lines: true })

const nfoProblem = `must be a file of at most ${MAX_NFO_BYTES / 1024} KiB in base64`
export const nfo = z
  .base64(nfoProblem)
  .max(Math.ceil(MAX_NFO_BYTES / 3) * 4, nfoProblem)
  .transform((encoded) => decodeNfo(Buffer.from(encoded, 'base64')) || null)
  .meta({ description: 'the bytes of an NFO file in base64; code page 437 or UTF-8' })
export const mediaInfo = text({ min: 0, max: MAX_MEDIA_INFO, lines: true })
  .transform((plain) => withoutFolders(plain) || null)
  .meta({ description: 'the text output of MediaInfo' })

/** The version of a torrent, which a decision about it can name. */
export const version = z.string().max(20)
