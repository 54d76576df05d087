import { CompiledQuery, type InsertObject, type RawBuilder, sql } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import { type KnownRelease, releaseKeys } from '../releases/related-releases.ts'
import type { ListedTorrent, ListedTorrents } from '../search/listed-torrent.ts'
import { READER_VERSION } from './reindex.ts'
import type { NewTorrent } from './torrents.ts'

/** The torrents of lists in Postgres. */
export function createListedTorrents(db: Db): ListedTorrents {
  // Every list and search ends with this statement, so it is compiled once.
  const { sql: statement } = listedColumns(db)
    .where(sql<boolean>`torrents.id = any(${sql.val([])}::uuid[])`)
    .where('torrents.deleted_at', 'is', null)
    .compile()
  return {
    byIds: async (ids) => {
      if (ids.length === 0) return []
      const { rows } = await db.executeQuery<ListedRow>(CompiledQuery.raw(statement, [ids]))
      const found = new Map(rows.map((row) => [row.id, toListed(row)]))
      return ids.flatMap((id) => found.get(id) ?? [])
    },
  }
}

/** A query for the columns that lists show. */
export function listedColumns(db: Db) {
  return db
    .selectFrom('torrents')
    .innerJoin('torrent_stats', 'torrent_stats.torrent_id', 'torrents.id')
    .leftJoin('categories', (join) =>
      join.onRef('categories.id', '=', 'torrents.category_id').on('categories.deleted_at', 'is', null),
    )
    .leftJoin('users', 'users.id', 'torrents.uploader_id')
    .select([
      'torrents.id',
      'torrents.info_hash',
      'torrents.info_hash_v2',
      'torrents.name',
      'torrents.size',
      'torrents.file_count',
      'torrents.uploader_id',
      'torrents.anonymous',
      'torrents.internal',
      'torrents.scene',
      'torrents.verdict',
      'torrents.imdb_id',
      'torrents.tmdb_id',
      'torrents.tvdb_id',
      'torrents.state',
      'torrents.state_reason',
      'torrents.download_percent',
      'torrents.upload_percent',
      'torrents.release_title',
      'torrents.release_year',
      'torrents.season_from',
      'torrents.season_to',
      'torrents.episode_from',
      'torrents.episode_to',
      'torrents.resolution',
      'torrents.source',
      'torrents.codec',
      'torrents.release_group',
      'torrents.absolute_from',
      'torrents.absolute_to',
      'torrents.hdr',
      'torrents.audio',
      'torrents.channels',
      'torrents.languages',
      'torrents.editions',
      'torrents.is_proper',
      'torrents.is_repack',
      'torrents.created_at',
      'torrent_stats.seeders',
      'torrent_stats.leechers',
      'torrent_stats.completed',
      'categories.slug',
      'users.username',
    ])
    .select([
      sql<string | null>`torrents.air_date::text`.as('air_date'),
      // The transaction that wrote the row. Peers are counted in another table.
      sql<string>`torrents.xmin::text`.as('version'),
    ])
}

/** A row of `listedColumns`. */
type ListedRow = Awaited<ReturnType<ReturnType<typeof listedColumns>['executeTakeFirstOrThrow']>>

/** Maps a row to the domain. */
export function toListed(row: ListedRow): ListedTorrent {
  return {
    id: row.id,
    infoHash: row.info_hash.toString('hex'),
    infoHashV2: row.info_hash_v2?.toString('hex') ?? null,
    name: row.name,
    category: row.slug ?? '',
    size: row.size,
    fileCount: row.file_count,
    uploader:
      row.uploader_id === null || row.username === null ? null : { id: row.uploader_id, username: row.username },
    anonymous: row.anonymous,
    internal: row.internal,
    scene: row.scene,
    verdict: row.verdict,
    externalIds: { imdb: row.imdb_id, tmdb: row.tmdb_id, tvdb: row.tvdb_id },
    state: row.state,
    stateReason: row.state_reason,
    downloadPercent: row.download_percent,
    uploadPercent: row.upload_percent,
    release: {
      title: row.release_title,
      year: row.release_year,
      seasonFrom: row.season_from,
      seasonTo: row.season_to,
      episodeFrom: row.episode_from,
      episodeTo: row.episode_to,
      airDate: row.air_date,
      resolution: row.resolution,
      source: row.source,
      codec: row.codec,
      group: row.release_group,
      absoluteFrom: row.absolute_from,
      absoluteTo: row.absolute_to,
      hdr: row.hdr,
      audio: row.audio,
      channels: row.channels,
      languages: row.languages,
      editions: row.editions,
      isProper: row.is_proper,
      isRepack: row.is_repack,
    },
    seeders: row.seeders,
    leechers: row.leechers,
    completed: row.completed,
    createdAt: row.created_at,
    version: row.version,
  }
}

/** The columns derived from the release name and the ids. */
export function releaseRow({ release, externalIds }: KnownRelease) {
  return {
    release_keys: releaseKeys({ release, externalIds }),
    release_title: release.title,
    release_year: release.year,
    season_from: release.seasonFrom,
    season_to: release.seasonTo,
    episode_from: release.episodeFrom,
    episode_to: release.episodeTo,
    air_date: release.airDate,
    resolution: release.resolution,
    source: release.source,
    codec: release.codec,
    release_group: release.group,
    absolute_from: release.absoluteFrom,
    absolute_to: release.absoluteTo,
    hdr: release.hdr,
    audio: release.audio,
    channels: release.channels,
    languages: release.languages,
    editions: release.editions,
    is_proper: release.isProper,
    is_repack: release.isRepack,
    reader_version: READER_VERSION,
  }
}

/** The tokens as a tsvector, without the text search parsers of Postgres, which do not understand release names. */
export function searchColumn(tokens: readonly string[]): RawBuilder<string> {
  return sql<string>`array_to_tsvector(${[...tokens]}::text[])`
}

/** The row of a new torrent. */
export function toRow(torrent: NewTorrent): InsertObject<Schema, 'torrents'> {
  const { content, externalIds } = torrent
  return {
    id: torrent.id,
    info_hash: Buffer.from(content.infoHash, 'hex'),
    info_hash_v2: content.infoHashV2 === null ? null : Buffer.from(content.infoHashV2, 'hex'),
    name: torrent.name,
    category_id: torrent.categoryId,
    size: content.size,
    file_count: content.fileCount,
    uploader_id: torrent.uploaderId,
    description: torrent.description,
    imdb_id: externalIds.imdb,
    tmdb_id: externalIds.tmdb,
    tvdb_id: externalIds.tvdb,
    state: torrent.state,
    state_reason: torrent.stateReason,
    was_approved: torrent.state === 'approved',
    ...releaseRow(torrent),
    anonymous: torrent.anonymous,
    internal: torrent.internal,
    scene: torrent.scene,
    nfo: torrent.nfo,
    media_info: torrent.mediaInfo,
    duplicate_reason: torrent.duplicateReason,
    search: searchColumn(torrent.tokens),
    created_at: torrent.createdAt,
  }
}
