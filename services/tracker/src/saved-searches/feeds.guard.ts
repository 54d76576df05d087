import type { Guard } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import { apiError } from '../errors.ts'
import type { FeedCaller, TrackerSurface } from '../surface.ts'
import type { Feeds } from './feeds.ts'

/** Admits requests with the token of a feed or an API token. Feed readers have no cookies. */
export function createFeedGuard(deps: {
  feeds: Pick<Feeds, 'admit'>
  proxies: TrustedProxies
}): Guard<TrackerSurface, FeedCaller> {
  return async ({ limit }, request: Request, response: Response) => {
    const query = new URLSearchParams(request.url.split('?')[1])
    const tokens = query.getAll('token')
    const kind = limit === 'download' ? 'download' : 'search'
    const token = tokens.length === 1 ? (tokens[0] ?? '') : ''
    const address = clientAddress(request, deps.proxies)
    const admission = await deps.feeds.admit({
      ...{ token, address, kind },
      savedSearch: query.get('savedSearch') ?? undefined,
    })
    if ('reader' in admission) return { ...admission.reader, address, session: undefined }
    response.setHeader('Retry-After', String(admission.waitSeconds))
    throw apiError('RATE_LIMITED', 'Too many requests. Wait for the number of seconds in Retry-After.')
  }
}
