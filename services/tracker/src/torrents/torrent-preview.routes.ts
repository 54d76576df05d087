import { z } from 'zod'
import { apiError } from '../errors.ts'
import { endpoints } from '../surface.ts'
import { MAX_PREVIEWED_FILES, MAX_TORRENT_BYTES } from './torrent-file.ts'
import { categorySlug, formField, releaseSchema, torrentFile, torrentName } from './torrents.routes.ts'
import type { Torrents } from './torrents.ts'

const torrentPreview = z
  .object({
    name: z.string(),
    infoHash: z.string().meta({ description: 'of the torrent as it would be stored' }),
    size: z.int().meta({ description: 'bytes' }),
    files: z.int().meta({ description: 'how many' }),
    firstFiles: z.array(torrentFile).meta({ description: `the first ${MAX_PREVIEWED_FILES}` }),
    category: z.string().nullable().meta({ description: 'slug of where it would go; null where none was chosen' }),
    release: releaseSchema,
  })
  .meta({ id: 'TorrentPreview' })

const endpoint = endpoints<{ torrents: Torrents }>()

/** What uploaders see before they send. */
export const torrentPreviewEndpoints = [
  endpoint({
    tag: 'torrents',
    access: 'member',
    // It changes nothing, and is asked again while a name is corrected.
    limit: 'read',
    method: 'POST',
    path: '/api/torrents/preview',
    operationId: 'previewTorrent',
    summary: 'What an upload would become: its name, files, release and category; nothing is added',
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
        firstFiles: [...firstFiles],
        // A name has more than the catalogue keeps; the schema drops the rest.
        release: releaseSchema.parse(release),
      }
    },
  }),
]
