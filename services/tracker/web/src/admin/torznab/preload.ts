import type { QueryClient } from '@tanstack/react-query'
import { ownUser, site } from '../../api/queries.ts'
import { blocks, presets, requests, settings, statistics, users } from './queries.ts'
import { requestSearchOf, type TorznabSearch } from './search.ts'

/** Starts the queries of a tab. */
export function preloadTab(queries: QueryClient, search: TorznabSearch): Promise<unknown> {
  switch (search.tab) {
    case undefined:
      return queries.query(statistics(search))
    case 'configuration':
      return Promise.all([queries.query(settings), queries.query(presets)])
    case 'users':
      return queries.query(users(search))
    case 'requests':
      return queries.query(requests(requestSearchOf(search)))
    case 'blocks':
      return Promise.all([queries.query(blocks), queries.query(users({ blocked: 'true' }))])
    case 'check':
      return Promise.all([queries.query(ownUser), queries.query(site)])
  }
}
