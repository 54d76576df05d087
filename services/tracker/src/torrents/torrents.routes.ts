import { FileAnswer } from '@vault-and-tracker/rest'
import { MAX_EXTERNAL_ID } from '@vault-and-tracker/torznab-xml'
import { create } from 'content-disposition'
import { z } from 'zod'
import { apiError } from '../errors.ts'
import {
  downloadPercent,
  idParams,
  pageOf,
  pageQuery,
  text,
  time,
  torrentPageQuery,
  uploadPercent,
} from '../http/fields.ts'
import { type ListedTorrent, TORRENT_STATES } from '../search/listed-torrent.ts'
import { type Search, SORTS } from '../search/search.ts'
import { endpoints } from '../surface.ts'
import { asciiFileName, safeFileName } from './file-name.ts'
import { MAX_PREVIEWED_FILES, MAX_TORRENT_BYTES } from './torrent-file.ts'
import {
  areFewEpisodes,
  categorySlug,
  externalId,
  imdbId,
  tooManyEpisodes,
  torrentFilters,
} from './torrent-filters.routes.ts'
import type { Torrent, Torrents } from './torrents.ts'

const releaseSchema = z
  .object({
    title: z.string().nullable(),
    year: z.int().nullable(),
    seasonFrom: z.int().nullable(),
    seasonTo: z.int().nullable(),
    episodeFrom: z.int().nullable(),
    episodeTo: z.int().nullable(),
    airDate: z.string().nullable(),
    resolution: z.string().nullable(),
    source: z.string().nullable(),
    codec: z.string().nullable(),
    group: z.string().nullable(),
    absoluteFrom: z.int().nullable().meta({ description: 'first episode, counted from the start of the series' }),
    absoluteTo: z.int().nullable(),
    hdr: z.array(z.string()),
    audio: z.array(z.string()),
    channels: z.string().nullable(),
    languages: z.array(z.string()).meta({ description: 'ISO 639-1; `mul` for several' }),
    editions: z.array(z.string()),
    isProper: z.boolean(),
    isRepack: z.boolean(),
  })
  .meta({ id: 'Release', description: 'parsed from the release name; fields that it does not contain are null' })

export const listedTorrent = z
  .object({
    id: z.string(),
    infoHash: z.string().meta({ description: '40 lowercase hex digits' }),
    infoHashV2: z.string().nullable().meta({ description: 'truncated v2 info hash of a hybrid torrent' }),
    name: z.string(),
    category: z.string().meta({ description: 'slug; empty if the category was deleted' }),
    size: z.int().meta({ description: 'bytes' }),
    files: z.int().meta({ description: 'number of files' }),
    created: time,
    seeders: z.int(),
    leechers: z.int(),
    completed: z.int(),
    uploader: z.string().nullable(),
    uploaderId: z.string().nullable(),
    imdb: z.string().nullable().meta({ description: '`tt` and at least seven digits' }),
    tmdb: z.int().nullable(),
    tvdb: z.int().nullable(),
    state: z.enum(TORRENT_STATES),
    stateReason: z.string().nullable(),
    downloadPercent: z.int().meta({ description: 'percentage of downloads that is counted; 0 is freeleech' }),
    uploadPercent: z.int().meta({ description: 'percentage of uploads that is counted; 200 is double upload' }),
    release: releaseSchema,
  })
  .meta({ id: 'ListedTorrent' })

export const torrentAnswer = listedTorrent.extend({ description: z.string() }).meta({ id: 'Torrent' })

/** A file of a torrent. */
const torrentFile = z.object({ path: z.string(), size: z.int() })
/** Treats an empty form field as absent. */
const formField = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema])

const torrentName = text({ min: 1, max: 255 })
const description = text({ min: 0, max: 20_000, lines: true })

const jsonId = z.int().min(1, 'must be a positive whole number').max(MAX_EXTERNAL_ID, 'must be a positive whole number')
const listQuery = pageQuery
  .safeExtend({
    sort: z.enum(SORTS, `must be one of ${SORTS.join(', ')}`).default('created'),
    order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc'),
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
    release: releaseSchema,
  })
  .meta({ id: 'TorrentPreview' })

const endpoint = endpoints<{ torrents: Torrents; search: Search }>()
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
    handle: async ({ query, caller }, { search }) => {
      const list = { ...query, state: 'approved' } as const
      const { items, suggestions, ...rest } = await search.list(list, caller.session.account.id)
      return { ...rest, items: items.map(presentListed), suggestions: suggestions?.map(presentListed) }
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
      imdb: formField(imdbId).optional(),
      tmdb: formField(externalId).optional(),
      tvdb: formField(externalId).optional(),
    }),
    status: 201,
    answer: torrentAnswer,
    errors: ['CONFLICT'],
    handle: async ({ body, file, caller }, { torrents }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const torrent = await torrents.upload(caller.session.account, {
        bytes: file,
        name: body.name,
        category: body.category,
        description: body.description,
        externalIds: { imdb: body.imdb ?? null, tmdb: body.tmdb ?? null, tvdb: body.tvdb ?? null },
      })
      return presentTorrent(torrent)
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents/:id',
    operationId: 'getTorrent',
    summary: 'Get a torrent',
    params: idParams,
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { torrents }) =>
      presentTorrent(await torrents.findVisible(params.id, caller.session.account)),
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
    summary: 'Download the .torrent file with your passkey in it',
    params: idParams,
    answerType: 'application/x-bittorrent',
    errors: ['FORBIDDEN', 'NOT_FOUND'],
    handle: async ({ params, caller }, { torrents }) => {
      const { name, bytes } = await torrents.download(params.id, caller.session.account)
      const file = `${name}.torrent`
      return new FileAnswer(bytes, {
        'Content-Type': 'application/x-bittorrent',
        'Content-Disposition': create(safeFileName(file), { fallback: asciiFileName(file) }),
      })
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
      })
      .partial(),
    status: 200,
    answer: torrentAnswer,
    errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { torrents }) => {
      const { imdb, tmdb, tvdb, ...edit } = body
      return presentTorrent(
        await torrents.edit(params.id, caller.session.account, { ...edit, externalIds: { imdb, tmdb, tvdb } }),
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

/** A torrent as returned by the API. */
export function presentTorrent(torrent: Torrent) {
  return { ...presentListed(torrent), description: torrent.description }
}

/** A torrent in a list. */
export function presentListed(torrent: ListedTorrent) {
  // Fields are named because this runs for every item of a page, where rest and spread take several times as long.
  const { imdb, tmdb, tvdb } = torrent.externalIds
  return {
    id: torrent.id,
    infoHash: torrent.infoHash,
    infoHashV2: torrent.infoHashV2,
    name: torrent.name,
    category: torrent.category,
    size: torrent.size,
    files: torrent.fileCount,
    created: torrent.createdAt,
    seeders: torrent.seeders,
    leechers: torrent.leechers,
    completed: torrent.completed,
    uploader: torrent.uploader?.username ?? null,
    uploaderId: torrent.uploader?.id ?? null,
    imdb: imdb === null ? null : `tt${String(imdb).padStart(7, '0')}`,
    tmdb,
    tvdb,
    state: torrent.state,
    stateReason: torrent.stateReason,
    downloadPercent: torrent.downloadPercent,
    uploadPercent: torrent.uploadPercent,
    release: torrent.release,
  }
}
