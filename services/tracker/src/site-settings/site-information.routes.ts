import { z } from 'zod'
import { endpoints } from '../surface.ts'

/** What a visitor has to know before they sign in. */
type SiteInformation = { readonly registration: 'open' | 'invite' | 'closed'; readonly torznabUrl: string }

const information = z
  .object({
    registration: z.enum(['open', 'invite', 'closed']).meta({ description: 'who may open an account' }),
    torznabUrl: z.string().meta({ description: 'the address that automation tools are given' }),
  })
  .meta({ id: 'Site' })

const endpoint = endpoints<{ siteInformation: SiteInformation }>()

/** What anyone may know of the site. */
export const siteInformationEndpoints = [
  endpoint({
    tag: 'site',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/api/site',
    operationId: 'getSite',
    summary: 'Who may open an account, and the address of the Torznab API',
    answer: information,
    handle: (_input, { siteInformation }) => Promise.resolve(siteInformation),
  }),
]
