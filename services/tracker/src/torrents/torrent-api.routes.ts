import { z } from 'zod'
import { SLUG_PATTERN } from '../categories/categories.ts'
import { defineEndpoint, plain } from '../rest/endpoint.routes.ts'
import { downloadPercent, idParams, pageOf, pageQuery, text, time, uploadPercent } from '../rest/fields.routes.ts'
import { MAX_TORRENT_BYTES } from './torrent-file.ts'
import { type ExternalIds, type ListedTorrent, SORTS, TORRENT_STATES, type Torrent } from './torrents.ts'

const release = z
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
  })
  .meta({ id: 'Release', description: 'what the release name tells; null where it says nothing' })

export const listedTorrent = z
  .object({
    id: z.string(),
    infoHash: z.string().meta({ description: '40 lower-case hex digits' }),
    infoHashV2: z.string().nullable().meta({ description: 'the truncated second hash of a hybrid torrent' }),
    name: z.string(),
    category: z.string().meta({ description: 'slug' }),
    size: z.int().meta({ description: 'bytes' }),
    files: z.int().meta({ description: 'how many' }),
    created: time,
    seeders: z.int(),
    leechers: z.int(),
    completed: z.int(),
    uploader: z.string().nullable(),
    imdb: z.string().nullable().meta({ description: '`tt` and at least seven digits' }),
    tmdb: z.int().nullable(),
    tvdb: z.int().nullable(),
    state: z.enum(TORRENT_STATES),
    stateReason: z.string().nullable(),
    downloadPercent: z.int().meta({ description: 'how much of a download is charged; 0 is freeleech' }),
    uploadPercent: z.int().meta({ description: 'how much of an upload is credited; 200 is double upload' }),
    release,
  })
  .meta({ id: 'ListedTorrent' })

export const torrentAnswer = listedTorrent.extend({ description: z.string() }).meta({ id: 'Torrent' })

/** An empty form field is an absent one. */
const formField = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema])

const name = text({ min: 1, max: 255 })
const category = z.string().regex(SLUG_PATTERN, 'must be the slug of a category')
const description = text({ min: 0, max: 20_000, lines: true })

const MAX_ID = 2_147_483_647
const imdb = z
  .string()
  .regex(/^(tt)?\d{1,10}$/, 'must be tt and digits')
  .transform((text) => Number(text.replace('tt', '')))
  .refine((id) => id > 0 && id <= MAX_ID, 'must be tt and digits')
const externalId = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a positive whole number')
  .transform(Number)
  .refine((id) => id > 0 && id <= MAX_ID, 'must be a positive whole number')
const jsonId = z.int().min(1, 'must be a positive whole number').max(MAX_ID, 'must be a positive whole number')
const listQuery = z.object({
  ...pageQuery,
  sort: z.enum(SORTS, `must be one of ${SORTS.join(', ')}`).default('created'),
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc'),
  category: category.optional().meta({ description: 'slug; a root includes its subcategories' }),
  search: z
    .string({ error: 'must be given once' })
    .max(256, 'must be at most 256 characters long')
    .optional()
    .meta({ description: 'words that the name must have, in any order' }),
})

const read = { ...plain, method: 'GET', limit: 'read', access: 'member', status: 200 } as const
const write = { ...plain, limit: 'write', access: 'member' } as const

/** The catalogue of torrents. */
export const torrentApi = {
  list: defineEndpoint({
    ...read,
    path: '/api/torrents',
    summary: 'Torrents, newest first unless sorted otherwise',
    query: listQuery,
    answer: pageOf(listedTorrent),
  }),
  upload: defineEndpoint({
    ...write,
    method: 'POST',
    path: '/api/torrents',
    summary: 'Upload a torrent; download our copy to seed it, its info hash may differ from your file',
    upload: { field: 'torrent', maxBytes: MAX_TORRENT_BYTES },
    body: z.object({
      name: formField(name).optional(),
      category,
      description: description.default(''),
      imdb: formField(imdb).optional(),
      tmdb: formField(externalId).optional(),
      tvdb: formField(externalId).optional(),
    }),
    status: 201,
    answer: torrentAnswer,
    errors: ['CONFLICT'],
  }),
  get: defineEndpoint({
    ...read,
    path: '/api/torrents/:id',
    summary: 'One torrent',
    params: idParams,
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
  }),
  files: defineEndpoint({
    ...read,
    path: '/api/torrents/:id/files',
    summary: 'The files of a torrent',
    params: idParams,
    answer: z.object({ items: z.array(z.object({ path: z.string(), size: z.int() })) }),
    errors: ['NOT_FOUND'],
  }),
  download: defineEndpoint({
    ...read,
    path: '/api/torrents/:id/download',
    summary: 'The .torrent file with your passkey in it',
    params: idParams,
    answer: z.custom<{ bytes: Buffer; headers: Record<string, string> }>(),
    answerType: 'application/x-bittorrent',
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  edit: defineEndpoint({
    ...write,
    method: 'PATCH',
    path: '/api/torrents/:id',
    summary: 'Change a torrent: its uploader and staff; what counts: staff only',
    params: idParams,
    body: z
      .object({
        name,
        category,
        description,
        imdb: z.union([imdb, z.null()]),
        tmdb: jsonId.nullable(),
        tvdb: jsonId.nullable(),
        downloadPercent,
        uploadPercent,
      })
      .partial(),
    status: 200,
    answer: torrentAnswer,
    errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
  }),
  remove: defineEndpoint({
    ...write,
    method: 'DELETE',
    path: '/api/torrents/:id',
    summary: 'Delete a torrent: its uploader and staff; announces tell the reason for 30 days',
    params: idParams,
    query: z.object({
      reason: z
        .string()
        .regex(/^[\x20-\x7e]{1,120}$/, 'must be 1 to 120 printable ASCII characters')
        .optional(),
    }),
    status: 204,
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
}

/** A torrent as the API shows it, in a list or, with its description, by itself. */
export function presentTorrent(torrent: Torrent): z.input<typeof torrentAnswer>
export function presentTorrent(torrent: ListedTorrent): z.input<typeof listedTorrent>
export function presentTorrent(torrent: ListedTorrent): z.input<typeof listedTorrent> {
  const { fileCount, uploader, externalIds, createdAt, ...same } = torrent
  return {
    ...same,
    files: fileCount,
    created: createdAt.toISOString(),
    uploader: uploader?.username ?? null,
    ...presentIds(externalIds),
  }
}

function presentIds({ imdb: id, tmdb, tvdb }: ExternalIds) {
  return { imdb: id === null ? null : `tt${String(id).padStart(7, '0')}`, tmdb, tvdb }
}
