import { z } from 'zod'
import { idParams, text, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { SavedSearch, SavedSearches } from './saved-searches.ts'

const savedSearch = z
  .object({
    id: z.string(),
    name: z.string(),
    filters: z.string().meta({ description: 'the query string of `listTorrents`, without page and limit' }),
    notify: z.boolean().meta({ description: 'whether new matches notify you' }),
    created: time,
    visited: time.meta({ description: 'when you last looked at the matches' }),
  })
  .meta({ id: 'SavedSearch' })

const countedSearch = savedSearch
  .extend({
    recent: z
      .object({ count: z.int(), isExact: z.boolean().meta({ description: 'false if there may be more' }) })
      .nullable()
      .meta({
        description: 'matches since the last visit; null if they could not be counted, such as without its category',
      }),
  })
  .meta({ id: 'CountedSavedSearch' })

const fields = {
  name: text({ min: 1, max: 60 }),
  filters: text({ min: 0, max: 1_500 }),
  notify: z.boolean(),
}

const endpoint = endpoints<{ savedSearches: SavedSearches }>()
const own = { tag: 'saved searches', access: 'member' } as const
const one = '/api/saved-searches/:id'

/** Searches with names. */
export const savedSearchEndpoints = [
  endpoint({
    ...own,
    method: 'GET',
    path: '/api/saved-searches',
    operationId: 'listSavedSearches',
    summary: 'List your saved searches by name, with the number of matches since your last visit',
    limit: 'read',
    answer: z.object({ items: z.array(countedSearch) }),
    handle: async ({ caller }, { savedSearches }) => {
      const saved = await savedSearches.listBy(caller.session.account.id)
      const items = saved.map(({ recent, ...each }) => ({
        ...present(each),
        recent: recent && { count: recent.count, isExact: recent.isExact },
      }))
      return { items }
    },
  }),
  endpoint({
    ...own,
    method: 'POST',
    path: '/api/saved-searches',
    operationId: 'createSavedSearch',
    summary: 'Save a search; at most 25',
    limit: 'write',
    body: z.object({ ...fields, notify: fields.notify.default(false) }),
    status: 201,
    answer: savedSearch,
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { savedSearches }) =>
      present(await savedSearches.create(caller.session.account.id, body)),
  }),
  endpoint({
    ...own,
    method: 'PATCH',
    path: one,
    operationId: 'changeSavedSearch',
    summary: 'Rename or change a saved search',
    limit: 'write',
    params: idParams,
    body: z.object(fields).partial(),
    status: 200,
    answer: savedSearch,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { savedSearches }) =>
      present(await savedSearches.change(params.id, caller.session.account.id, body)),
  }),
  endpoint({
    ...own,
    method: 'DELETE',
    path: one,
    operationId: 'deleteSavedSearch',
    summary: 'Delete a saved search with its feeds',
    limit: 'write',
    params: idParams,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { savedSearches }) => savedSearches.remove(params.id, caller.session.account.id),
  }),
  endpoint({
    ...own,
    // Looking at a list is reading, and a member may open many in a minute.
    limit: 'read',
    method: 'POST',
    path: `${one}/visit`,
    operationId: 'visitSavedSearch',
    summary: 'Count the matches of a saved search from now on',
    params: idParams,
    errors: ['NOT_FOUND'],
    handle: ({ params, caller }, { savedSearches }) => savedSearches.visit(params.id, caller.session.account.id),
  }),
]

function present({ id, name, filters, notify, created, visited }: SavedSearch) {
  return { id, name, filters, notify, created, visited }
}
