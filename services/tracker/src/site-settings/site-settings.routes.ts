import { z } from 'zod'
import { downloadPercent, uploadPercent } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { SiteConfiguration } from './site-settings.ts'

const settings = z.object({ downloadPercent: z.int(), uploadPercent: z.int() }).meta({ id: 'SiteSettings' })

const endpoint = endpoints<{ siteConfiguration: SiteConfiguration }>()
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
