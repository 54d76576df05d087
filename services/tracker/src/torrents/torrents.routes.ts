import { create } from 'content-disposition'
import { apiError } from '../errors.ts'
import { type BoundEndpoint, bind, sessionOf } from '../rest/endpoint.routes.ts'
import { asciiFileName, safeFileName } from './file-name.ts'
import { presentTorrent, torrentApi } from './torrent-api.routes.ts'
import type { Torrents } from './torrents.ts'

/** The endpoints of the catalogue. */
export function torrentRoutes(deps: { torrents: Torrents }): readonly BoundEndpoint[] {
  const { torrents } = deps
  return [
    bind(torrentApi.list, async ({ query }) => {
      const { category, search, ...rest } = query
      const { items, total } = await torrents.list({ ...rest, category, search, state: 'approved' })
      return { items: items.map((torrent) => presentTorrent(torrent)), page: query.page, limit: query.limit, total }
    }),
    bind(torrentApi.upload, async ({ body, file, caller }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const torrent = await torrents.upload(sessionOf(caller).account, {
        bytes: file,
        name: body.name,
        category: body.category,
        description: body.description,
        externalIds: { imdb: body.imdb ?? null, tmdb: body.tmdb ?? null, tvdb: body.tvdb ?? null },
      })
      return presentTorrent(torrent)
    }),
    bind(torrentApi.get, async ({ params, caller }) =>
      presentTorrent(await torrents.findVisible(params.id, sessionOf(caller).account)),
    ),
    bind(torrentApi.files, async ({ params, caller }) => ({
      items: [...(await torrents.files(params.id, sessionOf(caller).account))],
    })),
    bind(torrentApi.download, async ({ params, caller }) => {
      const { name, bytes } = await torrents.download(params.id, sessionOf(caller).account)
      const file = `${name}.torrent`
      return {
        bytes,
        headers: {
          'Content-Type': 'application/x-bittorrent',
          'Content-Disposition': create(safeFileName(file), { fallback: asciiFileName(file) }),
        },
      }
    }),
    bind(torrentApi.edit, async ({ params, body, caller }) => {
      const { imdb, tmdb, tvdb, ...edit } = body
      return presentTorrent(
        await torrents.edit(params.id, sessionOf(caller).account, { ...edit, externalIds: { imdb, tmdb, tvdb } }),
      )
    }),
    bind(torrentApi.remove, ({ params, query, caller }) =>
      torrents.remove(params.id, sessionOf(caller).account, query.reason),
    ),
  ]
}
