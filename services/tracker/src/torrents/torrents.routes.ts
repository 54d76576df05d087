import { FileAnswer } from '@vault-and-tracker/rest'
import { MAX_EXTERNAL_ID } from '@vault-and-tracker/torznab-xml'
import { z } from 'zod'
import { apiError } from '../errors.ts'
import {
  downloadPercent,
  idParams,
  pageOf,
  pageQuery,
  queryFlag,
  text,
  torrentPageQuery,
  uploadPercent,
} from '../http/fields.ts'
import { description, mediaInfo, nfo, torrentName } from '../http/torrent-fields.ts'
import { torrentFileHeaders } from '../http/torrent-file-headers.ts'
import { VERDICTS } from '../releases/related-releases.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import type { Search } from '../search/search.ts'
import { endpoints } from '../surface.ts'
import type { Bookmarks } from './bookmarks.ts'
import { MAX_PREVIEWED_FILES, MAX_TORRENT_BYTES } from './torrent-file.ts'
import {
  areFewEpisodes,
  categorySlug,
  externalId,
  imdbId,
  listOrder,
  tooManyEpisodes,
  torrentFilters,
} from './torrent-filters.routes.ts'
import {
  listedTorrent,
  presentListed,
  presentRelated,
  presentTorrent,
  relatedTorrent,
  releaseSchema,
  torrentAnswer,
} from './torrent-page.routes.ts'
import type { TorrentPreviews } from './torrent-preview.ts'
import type { Torrents } from './torrents.ts'

/** A file of a torrent. */
const torrentFile = z.object({ path: z.string(), size: z.int() })
/** Treats an empty form field as absent. */
const formField = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema])

const duplicateReason = text({ min: 1, max: 500 })

const mark = formField(queryFlag).default(false)

/** Ids of the content in other catalogues, in a form. */
const idFields = {
  imdb: formField(imdbId).optional(),
  tmdb: formField(externalId).optional(),
  tvdb: formField(externalId).optional(),
}
const idsOf = ({ imdb, tmdb, tvdb }: { [Id in keyof typeof idFields]?: number | undefined }) => ({
  ...{ imdb: imdb ?? null, tmdb: tmdb ?? null, tvdb: tvdb ?? null },
})

const jsonId = z.int().min(1, 'must be a positive whole number').max(MAX_EXTERNAL_ID, 'must be a positive whole number')
const listQuery = pageQuery
  .safeExtend({
    ...listOrder,
    ...torrentFilters,
  })
  .refine(areFewEpisodes, tooManyEpisodes)

const torrentPreview = z
  .object({
    name: z.string(),
    infoHash: z.string().meta({ description: 'info hash that the stored torrent would have' }),
    size: z.int().meta({ description: 'bytes' }),
    files: z.int().meta({ description: 'number of files' }),
    firstFiles: z.array(torrentFile).meta({ description: `the first ${MAX_PREVIEWED_FILES} files` }),
    category: z.string().nullable().meta({ description: 'slug of the resulting category; null if none was chosen' }),
    proposedCategory: z.string().nullable().meta({ description: 'slug of the category that fits the name' }),
    release: releaseSchema,
    verdict: z
      .enum(['exists', ...VERDICTS])
      .nullable()
      .meta({
        description:
          '`exists`: the same info hash; `duplicate`: the same content and slot (resolution, source, codec, HDR and ' +
          'edition); `covered`: in a season pack of this slot; `replaces`: a PROPER or REPACK',
      }),
    related: z.array(relatedTorrent).meta({ description: 'torrents of the same title that you can see' }),
  })
  .meta({ id: 'TorrentPreview' })

const endpoint = endpoints<{
  torrents: Torrents
  torrentPreviews: TorrentPreviews
  search: Search
  bookmarks: Bookmarks
}>()
const read = { tag: 'torrents', method: 'GET', limit: 'read', access: 'member' } as const
const write = { tag: 'torrents', limit: 'write', access: 'member' } as const

/** The catalogue of torrents. */
export const torrentEndpoints = [
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
    body: z.object({
      name: formField(torrentName).optional(),
      category: formField(categorySlug).optional(),
      ...idFields,
    }),
    status: 200,
    answer: torrentPreview,
    handle: async ({ body, file, caller }, { torrentPreviews }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const viewer = caller.session.account
      const { fileCount, firstFiles, release, related, ...preview } = await torrentPreviews.read(viewer, {
        bytes: file,
        name: body.name,
        category: body.category,
        externalIds: idsOf(body),
      })
      return {
        ...preview,
        files: fileCount,
        firstFiles,
        // Drops the parsed fields that the catalogue does not store.
        release: releaseSchema.parse(release),
        related: presentRelated(related, viewer),
      }
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents',
    operationId: 'listTorrents',
    summary: 'List or search torrents, newest first by default',
    query: listQuery,
    answer: pageOf(listedTorrent).extend({
      suggestions: z
        .array(listedTorrent)
        .optional()
        .meta({ description: 'torrents with similar words, if a search found nothing' }),
    }),
    handle: async ({ query, caller }, { search, bookmarks }) => {
      const viewer = caller.session.account
      const list = { ...query, state: 'approved', seesAnonymous: viewer.role !== 'member' } as const
      const { items, suggestions, ...rest } = await search.list(list, viewer.id)
      const shown = [...items, ...(suggestions ?? [])].map(({ id }) => id)
      const bookmarked = await bookmarks.among(viewer.id, shown)
      const present = (torrent: ListedTorrent) => presentListed(torrent, viewer, bookmarked)
      return { ...rest, items: items.map(present), suggestions: suggestions?.map(present) }
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/api/torrents',
    operationId: 'uploadTorrent',
    summary: 'Upload a torrent; download it afterwards to seed it, because its info hash may differ from your file',
    upload: { field: 'torrent', maxBytes: MAX_TORRENT_BYTES },
    body: z.object({
      name: formField(torrentName).optional(),
      category: categorySlug,
      description: description.default(''),
      ...idFields,
      anonymous: mark,
      internal: mark.meta({ description: 'only for staff' }),
      scene: mark,
      nfo: formField(nfo).optional(),
      mediaInfo: mediaInfo.optional(),
      duplicateReason: formField(duplicateReason).optional().meta({ description: 'why a duplicate should be listed' }),
      refuseDuplicate: mark.meta({ description: 'whether a duplicate without `duplicateReason` is refused' }),
    }),
    status: 201,
    answer: torrentAnswer,
    errors: ['CONFLICT'],
    handle: async ({ body, file, caller }, { torrents }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const { imdb, tmdb, tvdb, ...fields } = body
      const torrent = await torrents.upload(caller.session.account, {
        ...fields,
        bytes: file,
        name: body.name,
        externalIds: idsOf({ imdb, tmdb, tvdb }),
        nfo: body.nfo ?? null,
        mediaInfo: body.mediaInfo ?? null,
        duplicateReason: body.duplicateReason ?? null,
      })
      return presentTorrent(torrent, caller.session.account)
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents/:id/files',
    operationId: 'listTorrentFiles',
    summary: 'List the files of a torrent, in their original order',
    params: idParams,
    query: torrentPageQuery,
    answer: pageOf(torrentFile),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query: { page, limit }, caller }, { torrents }) => {
      const found = await torrents.files(params.id, caller.session.account, { page, limit })
      return { ...found, page, limit, totalIsExact: true }
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents/:id/download',
    operationId: 'downloadTorrent',
    summary: 'Download the .torrent file with your passkey, or the announce key of your API token',
    params: idParams,
    answerTypes: ['application/x-bittorrent'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
    handle: async ({ params, caller }, { torrents }) => {
      const tokenId = caller.scope === undefined ? undefined : caller.session.id
      const { name, bytes } = await torrents.download(params.id, caller.session.account, tokenId)
      return new FileAnswer(bytes, torrentFileHeaders(name))
    },
  }),
  endpoint({
    ...write,
    method: 'PATCH',
    path: '/api/torrents/:id',
    operationId: 'updateTorrent',
    summary: 'Change a torrent; only its uploader and staff can, and only staff can change its rates',
    params: idParams,
    body: z
      .object({
        name: torrentName,
        category: categorySlug,
        description,
        imdb: z.union([imdbId, z.null()]),
        tmdb: jsonId.nullable(),
        tvdb: jsonId.nullable(),
        downloadPercent,
        uploadPercent,
        anonymous: z.boolean(),
        internal: z.boolean(),
        scene: z.boolean(),
        nfo: nfo.nullable(),
        mediaInfo: mediaInfo.nullable(),
      })
      .partial(),
    status: 200,
    answer: torrentAnswer,
    errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { torrents }) => {
      const { imdb, tmdb, tvdb, ...edit } = body
      return presentTorrent(
        await torrents.edit(params.id, caller.session.account, { ...edit, externalIds: { imdb, tmdb, tvdb } }),
        caller.session.account,
      )
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/api/torrents/:id',
    operationId: 'deleteTorrent',
    summary: 'Delete a torrent; only its uploader and staff can; clients see the reason for 30 days',
    params: idParams,
    query: z.object({
      reason: z
        .string()
        .regex(/^[\x20-\x7e]{1,120}$/, 'must be 1 to 120 printable ASCII characters')
        .optional(),
    }),
    status: 204,
    errors: ['FORBIDDEN', 'NOT_FOUND'],
    handle: ({ params, query, caller }, { torrents }) =>
      torrents.remove(params.id, caller.session.account, query.reason),
  }),
]
