import { z } from 'zod'
import { downloadPercent, text, uploadPercent } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { LOGO_LIMITS } from './logo.ts'
import { logoPath } from './look.ts'
import { APPROVALS, REGISTRATIONS, SEED_HOURS, type SiteConfiguration, type SiteSettings } from './site-settings.ts'

const seedHoursMessage = `must be a whole number from ${SEED_HOURS.min} to ${SEED_HOURS.max}`

/** The settings that the configuration of the server has too. */
const policy = {
  registration: z.enum(REGISTRATIONS).meta({ description: 'who can create an account' }),
  uploadApproval: z.enum(APPROVALS).meta({ description: '`manual`: uploads of members wait for a moderator' }),
  editApproval: z.enum(APPROVALS).meta({ description: 'with manual approval of uploads: edits by members wait too' }),
  seedHours: z
    .int(seedHoursMessage)
    .min(SEED_HOURS.min, seedHoursMessage)
    .max(SEED_HOURS.max, seedHoursMessage)
    .meta({ description: 'hours that members should seed a completed torrent; 0 for no rule' }),
  staffSecondFactor: z.boolean().meta({ description: 'whether moderators and administrators need a second factor' }),
}

/** Null resets a setting to the configuration of the server. */
const changeable = {
  registration: policy.registration.nullable(),
  uploadApproval: policy.uploadApproval.nullable(),
  editApproval: policy.editApproval.nullable(),
  seedHours: policy.seedHours.nullable(),
  staffSecondFactor: policy.staffSecondFactor.nullable(),
  accent: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be # and six lower-case hex digits')
    .nullable()
    .meta({ description: 'the colour from which pages derive readable tones; null for the default' }),
  checklistDismissed: z.boolean(),
}

const settings = z
  .object({
    downloadPercent: z.int(),
    uploadPercent: z.int(),
    name: z.string().nullable(),
    ...changeable,
    logo: z.string().nullable().meta({ description: 'the path of the PNG file; null for the default' }),
    defaults: z
      .object({ name: z.string().nullable(), ...policy })
      .meta({ description: 'the configuration of the server, which applies where a setting is null' }),
  })
  .meta({ id: 'SiteSettings' })

const checklist = z
  .object({
    look: z.boolean().meta({ description: 'name, accent or logo' }),
    registration: z.boolean().meta({ description: 'chosen in the panel' }),
    categories: z.boolean(),
    rules: z.boolean(),
    upload: z.boolean(),
    dismissed: z.boolean(),
  })
  .meta({ id: 'Checklist' })

const information = z
  .object({
    registration: policy.registration,
    torznabUrl: z.string().meta({ description: 'the Torznab URL for automation tools' }),
    irc: z
      .object({ host: z.string(), port: z.int(), tls: z.boolean(), channel: z.string() })
      .nullable()
      .meta({ description: 'where new torrents are announced; null without a listener' }),
    sendsEmail: z.boolean().meta({ description: 'whether users can reset their password by email' }),
    awaitsSetup: z
      .boolean()
      .meta({ description: 'whether the first administrator has to be created with the code in the log' }),
  })
  .meta({ id: 'Site' })

/** Information about the site for visitors who have not signed in. */
type SiteInformation = () => Promise<Omit<z.output<typeof information>, 'irc'>>

const endpoint = endpoints<{
  siteConfiguration: SiteConfiguration
  siteInformation: SiteInformation
  /** Null without an IRC listener. */
  ircAddress: z.output<typeof information>['irc']
}>()
const admin = { tag: 'site', access: 'admin', limit: 'write' } as const

/** Site-wide settings. */
export const siteSettingsEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/site',
    operationId: 'getSiteSettings',
    summary: 'Get the site-wide settings',
    answer: settings,
    handle: async (_input, { siteConfiguration }) => present(await siteConfiguration.read(), siteConfiguration),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/site',
    operationId: 'updateSiteSettings',
    summary: 'Set site-wide settings; a `downloadPercent` of 0 is freeleech',
    body: z
      .object({ downloadPercent, uploadPercent, name: text({ min: 1, max: 64 }).nullable(), ...changeable })
      .partial(),
    answer: settings,
    handle: async ({ body, caller }, { siteConfiguration }) =>
      present(await siteConfiguration.change(body, caller.session.account.id), siteConfiguration),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/checklist',
    operationId: 'getChecklist',
    summary: 'Get the setup checklist',
    answer: checklist,
    handle: (_input, { siteConfiguration }) => siteConfiguration.checklist(),
  }),
  endpoint({
    ...admin,
    method: 'PUT',
    path: '/api/admin/site/logo',
    operationId: 'setLogo',
    summary: 'Set the logo of the site',
    body: z.object({
      png: z.base64('must be a PNG file in base64').meta({
        description: `a PNG file of at most ${LOGO_LIMITS.bytes / 1024} KiB, ${LOGO_LIMITS.minPixels} to ${LOGO_LIMITS.maxPixels} pixels wide and high, in base64`,
      }),
    }),
    answer: settings,
    handle: async ({ body, caller }, { siteConfiguration }) => {
      const png = Buffer.from(body.png, 'base64')
      return present(await siteConfiguration.changeLogo(png, caller.session.account.id), siteConfiguration)
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/site/logo',
    operationId: 'deleteLogo',
    summary: 'Remove the logo',
    answer: settings,
    handle: async ({ caller }, { siteConfiguration }) =>
      present(await siteConfiguration.changeLogo(undefined, caller.session.account.id), siteConfiguration),
  }),
]

function present(
  { logo, hadAdministrator: _hadAdministrator, ...others }: SiteSettings,
  { defaults }: SiteConfiguration,
): z.output<typeof settings> {
  return { ...others, logo: logo === null ? null : logoPath(logo), defaults }
}

/** Public information about the site. */
export const siteInformationEndpoints = [
  endpoint({
    tag: 'site',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/api/site',
    operationId: 'getSite',
    summary: 'Get the registration mode, the addresses for tools, and whether the site awaits its setup',
    answer: information,
    handle: async (_input, { siteInformation, ircAddress }) => ({ ...(await siteInformation()), irc: ircAddress }),
  }),
]
