import { z } from 'zod'
import { MAX_MEDIA_INFO, withoutFolders } from '../releases/media-info.ts'
import { decodeNfo, MAX_NFO_BYTES } from '../releases/nfo.ts'
import { text, time } from './fields.ts'

/** What APIs say about torrents, and what uploaders write about them. */

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

export const bytes = z.int().meta({ description: 'bytes, without rates' })

/** What a user transferred of a torrent. */
export const ownTransfer = z
  .object({
    uploaded: bytes,
    downloaded: bytes,
    seedSeconds: z.int(),
    bytesLeft: z.int().nullable(),
    isSeeding: z.boolean(),
    lastSeen: time,
    completed: time.nullable(),
  })
  .nullable()
  .meta({ description: 'null if you have never announced it' })
