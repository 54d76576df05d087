import { z } from 'zod'
import { apiError } from '../errors.ts'
import { endpoints } from '../surface.ts'
import { MAX_PREVIEWED_FILES, MAX_TORRENT_BYTES } from './torrent-file.ts'
import { categorySlug, formField, releaseSchema, torrentFile, torrentName } from './torrents.routes.ts'
import type { Torrents } from './torrents.ts'

const torrentPreview = z
  .object({
    name: z.string(),
    infoHash: z.string().meta({ description: 'info hash that the stored torrent would have' }),
    size: z.int().meta({ description: 'bytes' }),
    files: z.int().meta({ description: 'number of files' }),
    firstFiles: z.array(torrentFile).meta({ description: `the first ${MAX_PREVIEWED_FILES} files` }),
    category: z.string().nullable().meta({ description: 'slug of the resulting category; null if none was chosen' }),
    release: releaseSchema,
  })
  .meta({ id: 'TorrentPreview' })

const endpoint = endpoints<{ torrents: Torrents }>()

/** The preview of an upload. */
export const torrentPreviewEndpoints = [
  endpoint({
    tag: 'torrents',
    access: 'member',
    // A preview changes nothing, and is requested again whenever the uploader edits the name.
    limit: 'read',
    method: 'POST',
    path: '/api/torrents/preview',
    operationId: 'previewTorrent',
    summary: 'Preview the name, files, release and category of an upload without adding it',
    upload: { field: 'torrent', maxBytes: MAX_TORRENT_BYTES },
    body: z.object({ name: formField(torrentName).optional(), category: formField(categorySlug).optional() }),
    status: 200,
    answer: torrentPreview,
    handle: async ({ body, file, caller }, { torrents }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const { fileCount, firstFiles, release, ...preview } = await torrents.preview(caller.session.account, {
        bytes: file,
        name: body.name,
        category: body.category,
      })
      return {
        ...preview,
        files: fileCount,
        firstFiles,
        // Drops the parsed fields that the catalogue does not store.
        release: releaseSchema.parse(release),
      }
    },
  }),
]
