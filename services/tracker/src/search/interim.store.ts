import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { queryTokens } from '../torrents/search-tokens.ts'
import { listedColumns, toListed } from '../torrents/torrent-rows.store.ts'
import type { FoundTorrent, SearchQuery, SearchStore } from './search.ts'

/** INTERIM, not committed. */
export function createSearchStore(db: Db): SearchStore {
  const base = () =>
    listedColumns(db)
      .leftJoin('categories as roots', 'roots.id', 'categories.parent_id')
      .select(['categories.torznab_id as leaf', 'roots.torznab_id as root'])
      .where('torrents.deleted_at', 'is', null)
      .where('torrents.state', '=', 'approved')
  const toFound = (row: Awaited<ReturnType<ReturnType<typeof base>['executeTakeFirstOrThrow']>>): FoundTorrent => ({
    ...toListed(row),
    torznabIds: [row.leaf, row.root].flatMap((id) => (id === null ? [] : [id])),
  })
  return {
    async find(query: SearchQuery) {
      if (query.categoryIds?.length === 0) return { items: [], total: 0, totalIsExact: true }
      const tokens = [query.text, ...(query.words ?? [])].flatMap((text) =>
        text === undefined ? [] : queryTokens(text),
      )
      let q = base()
      if (query.categoryIds) q = q.where('torrents.category_id', 'in', query.categoryIds)
      if (tokens.length > 0)
        q = q.where(sql<boolean>`torrents.search @@ ${tokens.map((t) => `'${t}'`).join(' & ')}::tsquery`)
      const ids = query.ids ?? {}
      if (ids.imdb !== undefined || ids.tmdb !== undefined || ids.tvdb !== undefined)
        q = q.where((eb) =>
          eb.or([
            eb('torrents.imdb_id', '=', ids.imdb ?? -1),
            eb('torrents.tmdb_id', '=', ids.tmdb ?? -1),
            eb('torrents.tvdb_id', '=', ids.tvdb ?? -1),
          ]),
        )
      const w = query.wanted
      if (w?.kind === 'season') q = q.where('season_from', '<=', w.season.to).where('season_to', '>=', w.season.from)
      if (w?.kind === 'episode')
        q = q.where('episode_from', '<=', w.episode.to).where('episode_to', '>=', w.episode.from)
      if (w?.kind === 'episode' && w.season) q = q.where('season_from', '=', w.season.from)
      if (w?.kind === 'airDate') q = q.where('air_date', '=', w.date)
      if (query.year !== undefined) q = q.where('release_year', '=', query.year)
      if (query.minSize !== undefined) q = q.where('torrents.size', '>=', query.minSize)
      if (query.maxSize !== undefined) q = q.where('torrents.size', '<=', query.maxSize)
      if (query.createdAfter !== undefined) q = q.where('torrents.created_at', '>', query.createdAfter)
      const all = await q.orderBy('torrents.created_at', 'desc').orderBy('torrents.id', 'desc').execute()
      return {
        items: all.slice(query.offset, query.offset + query.limit).map(toFound),
        total: all.length,
        totalIsExact: true,
      }
    },
    async byInfoHash(infoHash) {
      const hash = Buffer.from(infoHash, 'hex')
      const row = await base()
        .where((eb) => eb.or([eb('torrents.info_hash', '=', hash), eb('torrents.info_hash_v2', '=', hash)]))
        .executeTakeFirst()
      return row && toFound(row)
    },
  }
}
