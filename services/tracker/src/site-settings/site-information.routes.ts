import { z } from 'zod'
import { endpoints } from '../surface.ts'

/** Information about the site for visitors who have not signed in. */
type SiteInformation = { readonly registration: 'open' | 'invite' | 'closed'; readonly torznabUrl: string }

const information = z
  .object({
    registration: z.enum(['open', 'invite', 'closed']).meta({ description: 'who can create an account' }),
    torznabUrl: z.string().meta({ description: 'the Torznab URL for automation tools' }),
  })
  .meta({ id: 'Site' })

const endpoint = endpoints<{ siteInformation: SiteInformation }>()

/** Public information about the site. */
export const siteInformationEndpoints = [
  endpoint({
    tag: 'site',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/api/site',
    operationId: 'getSite',
    summary: 'Get the registration mode and the URL of the Torznab API',
    answer: information,
    handle: (_input, { siteInformation }) => Promise.resolve(siteInformation),
  }),
]
