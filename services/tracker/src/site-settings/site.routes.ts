import { z } from 'zod'
import { endpoints } from '../http/surface.ts'

/** What a visitor has to know before they sign in. */
type Site = { readonly registration: 'open' | 'invite' | 'closed'; readonly torznabUrl: string }

const site = z
  .object({
    registration: z.enum(['open', 'invite', 'closed']).meta({ description: 'who may open an account' }),
    torznabUrl: z.string().meta({ description: 'the address that automation tools are given' }),
  })
  .meta({ id: 'Site' })

const endpoint = endpoints<{ site: Site }>()

/** What anyone may know of the site. */
export const siteEndpoints = [
  endpoint({
    tag: 'site',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/api/site',
    operationId: 'getSite',
    summary: 'Who may open an account, and the address of the Torznab API',
    answer: site,
    handle: (_input, { site }) => Promise.resolve(site),
  }),
]
