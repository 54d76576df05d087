import { z } from 'zod'
import { downloadPercent, uploadPercent } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { SiteConfiguration } from './site-settings.ts'

const settings = z.object({ downloadPercent: z.int(), uploadPercent: z.int() }).meta({ id: 'SiteSettings' })

/** Information about the site for visitors who have not signed in. */
type SiteInformation = { readonly registration: 'open' | 'invite' | 'closed'; readonly torznabUrl: string }

const information = z
  .object({
    registration: z.enum(['open', 'invite', 'closed']).meta({ description: 'who can create an account' }),
    torznabUrl: z.string().meta({ description: 'the Torznab URL for automation tools' }),
  })
  .meta({ id: 'Site' })

const endpoint = endpoints<{ siteConfiguration: SiteConfiguration; siteInformation: SiteInformation }>()
const admin = { tag: 'site', access: 'admin', limit: 'write' } as const

/** Site-wide settings. */
export const siteSettingsEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/site',
    operationId: 'getSiteSettings',
    summary: 'Get the site-wide rates',
    answer: settings,
    handle: (_input, { siteConfiguration }) => siteConfiguration.read(),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/site',
    operationId: 'updateSiteSettings',
    summary: 'Set the site-wide rates; a `downloadPercent` of 0 is freeleech',
    body: z.object({ downloadPercent, uploadPercent }).partial(),
    answer: settings,
    handle: ({ body, caller }, { siteConfiguration }) => siteConfiguration.change(body, caller.session.account.id),
  }),
]

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
