import { z } from 'zod'
import { type BoundEndpoint, bind, defineEndpoint, plain } from '../rest/endpoint.routes.ts'
import { downloadPercent, uploadPercent } from '../rest/fields.routes.ts'
import type { SiteSettings } from './site-settings.ts'

const settings = z.object({ downloadPercent: z.int(), uploadPercent: z.int() }).meta({ id: 'SiteSettings' })

const admin = { ...plain, access: 'admin', limit: 'write', status: 200 } as const

/** What administrators set for the whole site. */
export const siteApi = {
  readSite: defineEndpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/site',
    summary: 'What holds for the whole site',
    answer: settings,
  }),
  changeSite: defineEndpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/site',
    summary: 'Set how much of downloads is charged and of uploads credited, everywhere; 0 and 100 is freeleech',
    body: z.object({ downloadPercent, uploadPercent }).partial(),
    answer: settings,
  }),
}

/** The endpoints of the site's settings. */
export function siteRoutes(deps: { site: SiteSettings }): readonly BoundEndpoint[] {
  const { site } = deps
  return [bind(siteApi.readSite, () => site.read()), bind(siteApi.changeSite, ({ body }) => site.change(body))]
}
