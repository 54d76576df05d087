import { z } from 'zod'
import { idParams, time } from '../http/fields.ts'
import { ownTransfer, version } from '../http/torrent-fields.ts'
import { RELATIONS, VERDICTS } from '../releases/related-releases.ts'
import { type ListedTorrent, TORRENT_STATES } from '../search/listed-torrent.ts'
import { endpoints } from '../surface.ts'
import type { TorrentHistories } from '../swarm-statistics/torrent-history.ts'
import type { Bookmarks } from './bookmarks.ts'
import type { TorrentDetails } from './torrent-details.ts'
import type { Torrent, Torrents, Viewer } from './torrents.ts'

export const releaseSchema = z
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
    uploader: z.string().nullable().meta({ description: 'null if the account was deleted or hides its name' }),
    uploaderId: z.string().nullable(),
    anonymous: z.boolean().meta({ description: 'whether only staff and the uploader can see the uploader' }),
    internal: z.boolean().meta({ description: 'released by staff of the site' }),
    scene: z.boolean().meta({ description: 'a scene release' }),
    imdb: z.string().nullable().meta({ description: '`tt` and at least seven digits' }),
    tmdb: z.int().nullable(),
    tvdb: z.int().nullable(),
    state: z.enum(TORRENT_STATES),
    stateReason: z.string().nullable(),
    downloadPercent: z.int().meta({ description: 'percentage of downloads that is counted; 0 is freeleech' }),
    uploadPercent: z.int().meta({ description: 'percentage of uploads that is counted; 200 is double upload' }),
    release: releaseSchema,
    bookmarked: z.boolean().optional().meta({ description: 'by you; only in the list and on the page of a torrent' }),
  })
  .meta({ id: 'ListedTorrent' })

/** What the catalogue said about a release at its upload. */
export const verdict = z
  .enum(VERDICTS)
  .nullable()
  .meta({ description: 'how the release related to others when uploaded; for its uploader and staff' })

export const torrentAnswer = listedTorrent
  .extend({
    description: z.string().meta({ description: 'Markdown' }),
    hasNfo: z.boolean(),
    hasMediaInfo: z.boolean(),
    verdict,
    duplicateReason: z.string().nullable().meta({ description: 'for its uploader and staff' }),
    version: version.nullable().meta({ description: 'another one after each change; for staff' }),
  })
  .meta({ id: 'Torrent' })

export const relatedTorrent = z
  .object({
    relation: z.enum([...RELATIONS, 'same']).meta({
      description:
        'what this torrent is to the release: `duplicate` has the same content and slot, `replaced` is replaced by the ' +
        'release, `replacement` replaces it, `pack` contains it, `version` has another slot, `same` the same info hash',
    }),
    torrent: listedTorrent,
  })
  .meta({ id: 'RelatedTorrent' })

const trackSchemas = {
  video: z.object({
    codec: z.string().nullable(),
    width: z.int().nullable(),
    height: z.int().nullable(),
    resolution: z.string().nullable(),
    hdr: z.string().nullable(),
    frameRate: z.string().nullable(),
    bitRate: z.string().nullable(),
  }),
  audio: z.object({
    codec: z.string().nullable(),
    channels: z.string().nullable(),
    language: z.string().nullable(),
    bitRate: z.string().nullable(),
    title: z.string().nullable(),
  }),
  subtitles: z.object({
    language: z.string().nullable(),
    format: z.string().nullable(),
    title: z.string().nullable(),
    isForced: z.boolean(),
  }),
}

const torrentDetails = z
  .object({
    nfo: z.string().nullable(),
    mediaInfo: z.string().nullable(),
    media: z
      .object({
        container: z.string().nullable(),
        duration: z.string().nullable(),
        video: z.array(trackSchemas.video),
        audio: z.array(trackSchemas.audio),
        subtitles: z.array(trackSchemas.subtitles),
      })
      .nullable()
      .meta({ description: 'the tracks in `mediaInfo`' }),
    related: z.array(relatedTorrent),
    cost: z.object({
      downloadPercent: z.int().meta({ description: 'best rate of torrent, site and yourself' }),
      uploadPercent: z.int(),
      counted: z.int().meta({ description: 'bytes that count as downloaded' }),
      ratio: z.number().nullable().meta({ description: 'yours; null if nothing was downloaded' }),
      ratioAfter: z.number().nullable().meta({ description: 'after the download' }),
      seedSeconds: z.int().meta({ description: 'required seeding time, unless the ratio of the torrent reaches 1' }),
    }),
    transfer: ownTransfer,
  })
  .meta({ id: 'TorrentDetails' })

const endpoint = endpoints<{
  torrents: Torrents
  torrentDetails: TorrentDetails
  torrentHistories: TorrentHistories
  bookmarks: Bookmarks
}>()
const read = { tag: 'torrents', method: 'GET', limit: 'read', access: 'member' } as const

/** One torrent. */
export const torrentPageEndpoints = [
  endpoint({
    ...read,
    path: '/api/torrents/:id',
    operationId: 'getTorrent',
    summary: 'Get a torrent',
    params: idParams,
    answer: torrentAnswer,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, { torrents, bookmarks }) => {
      const viewer = caller.session.account
      const torrent = await torrents.findVisible(params.id, viewer)
      return presentTorrent(torrent, viewer, await bookmarks.among(viewer.id, [torrent.id]))
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents/:id/details',
    operationId: 'getTorrentDetails',
    summary:
      'Get the NFO, the MediaInfo, other releases of the title, what a download costs you, and what you transferred',
    params: idParams,
    answer: torrentDetails,
    errors: ['NOT_FOUND'],
    handle: async ({ params, caller }, deps) => {
      const viewer = caller.session.account
      const { related, ...details } = await deps.torrentDetails.read(params.id, viewer)
      return { ...details, related: presentRelated(related, viewer) }
    },
  }),
  endpoint({
    ...read,
    path: '/api/torrents/:id/history',
    operationId: 'getTorrentHistory',
    summary: 'Get the peers of a torrent over the last 30 days, oldest first',
    params: idParams,
    answer: z
      .object({
        stepSeconds: z.int(),
        items: z.array(z.object({ start: time, seeders: z.int(), leechers: z.int() })),
      })
      .meta({ id: 'TorrentHistory' }),
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { torrentHistories }) => torrentHistories.read(params.id, caller.session.account),
  }),
]

/** A torrent as returned by the API. */
export function presentTorrent(torrent: Torrent, viewer: Viewer, bookmarked?: ReadonlySet<string>) {
  const { description, hasNfo, hasMediaInfo, verdict, duplicateReason } = torrent
  const judged = isKnownTo(torrent, viewer) ? { verdict, duplicateReason } : { verdict: null, duplicateReason: null }
  const version = viewer.role === 'member' ? null : torrent.version
  return { ...presentListed(torrent, viewer, bookmarked), ...{ description, hasNfo, hasMediaInfo, version }, ...judged }
}

/** Related torrents as returned by the API. */
export function presentRelated<R extends { readonly torrent: ListedTorrent }>(related: readonly R[], viewer: Viewer) {
  return related.map((each) => ({ ...each, torrent: presentListed(each.torrent, viewer) }))
}

/** Whether a viewer may see who uploaded an anonymous torrent. */
function isKnownTo(torrent: ListedTorrent, viewer: Viewer): boolean {
  return viewer.role !== 'member' || torrent.uploader?.id === viewer.id
}

/** A torrent in a list. @param bookmarked the ids that the viewer bookmarked, if it matters */
export function presentListed(torrent: ListedTorrent, viewer: Viewer, bookmarked?: ReadonlySet<string>) {
  // Fields are named because this runs for every item of a page, where rest and spread take several times as long.
  const { imdb, tmdb, tvdb } = torrent.externalIds
  const uploader = torrent.anonymous && !isKnownTo(torrent, viewer) ? null : torrent.uploader
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
    uploader: uploader?.username ?? null,
    uploaderId: uploader?.id ?? null,
    anonymous: torrent.anonymous,
    internal: torrent.internal,
    scene: torrent.scene,
    imdb: imdb === null ? null : `tt${String(imdb).padStart(7, '0')}`,
    tmdb,
    tvdb,
    state: torrent.state,
    stateReason: torrent.stateReason,
    downloadPercent: torrent.downloadPercent,
    uploadPercent: torrent.uploadPercent,
    release: torrent.release,
    bookmarked: bookmarked?.has(torrent.id),
  }
}
