import type { Guard } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import { bearerOf } from '../http/bearer.ts'
import type { FeedCaller, SignedInUser, TrackerSurface } from '../surface.ts'
import { isTokenText } from '../tokens/token-text.ts'
import type { FeedRequest, Feeds } from './feeds.ts'

/**
 * Admits requests with the token of a feed, an API token or the key of a link. Few feed readers send headers, and none has
 * cookies; a feed without a token is for extensions of browsers, which have the session.
 */
export function createFeedGuard(deps: {
  feeds: Pick<Feeds, 'admit'>
  proxies: TrustedProxies
  sessions: Guard<TrackerSurface, SignedInUser>
}): Guard<TrackerSurface, FeedCaller> {
  return async (endpoint, request: Request, response: Response) => {
    const query = new URLSearchParams(request.url.split('?')[1])
    const tokens = query.getAll('token')
    const token = tokens.length === 1 ? (tokens[0] ?? '') : ''
    const address = clientAddress(request, deps.proxies)

    async function asked(): Promise<FeedRequest> {
      if (endpoint.limit === 'download')
        return { kind: 'download', address, key: token, torrent: query.get('id') ?? '' }
      const list = { savedSearch: query.get('savedSearch'), category: query.get('category') }
      if (tokens.length > 0) return { kind: 'search', address, by: token, list }
      const bearer = bearerOf(request)
      if (bearer !== undefined && isTokenText(bearer)) return { kind: 'search', address, by: bearer, list }
      const { session } = await deps.sessions({ ...endpoint, access: 'member' }, request, response)
      return { kind: 'search', address, by: session.account, list }
    }

    const admission = await deps.feeds.admit(await asked())
    if ('reader' in admission) return { ...admission.reader, address, session: undefined }
    response.setHeader('Retry-After', String(admission.waitSeconds))
    throw apiError('RATE_LIMITED')
  }
}
