import { idParams } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { Bookmarks } from './bookmarks.ts'

const endpoint = endpoints<{ bookmarks: Bookmarks }>()
const write = { tag: 'saved searches', limit: 'write', access: 'member', path: '/api/bookmarks/:id' } as const

/** Bookmarks of members, which `listTorrents` lists with `mine=bookmarked`. */
export const bookmarkEndpoints = [
  endpoint({
    ...write,
    method: 'PUT',
    operationId: 'addBookmark',
    summary: 'Bookmark a torrent; at most 1,000',
    params: idParams,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { bookmarks }) => bookmarks.add(caller.session.account.id, params.id),
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    operationId: 'removeBookmark',
    summary: 'Remove a bookmark, if there is one',
    params: idParams,
    handle: ({ params, caller }, { bookmarks }) => bookmarks.remove(caller.session.account.id, params.id),
  }),
]
