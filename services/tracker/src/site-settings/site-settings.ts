import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { cachedValue, type Invalidations } from '../invalidation/invalidation.ts'
import { type Logo, readLogo } from './logo.ts'

export const REGISTRATIONS = ['open', 'invite', 'closed'] as const
export const APPROVALS = ['automatic', 'manual'] as const
/** The bounds of the hours that members should seed a completed torrent. */
export const SEED_HOURS = { min: 0, max: 10_000 } as const

/** Settings that the configuration of the server has too. */
export type SitePolicy = {
  /** Registration is open to everyone, to people with an invite, or to no one. */
  readonly registration: (typeof REGISTRATIONS)[number]
  /** Whether uploads of members wait for a moderator. */
  readonly uploadApproval: (typeof APPROVALS)[number]
  /** Whether edits by members wait too. */
  readonly editApproval: (typeof APPROVALS)[number]
  readonly seedHours: number
  /** Whether moderators and administrators need a second factor. */
  readonly staffSecondFactor: boolean
}

/** The configuration of the server: what applies until an administrator sets something else. */
export type SiteDefaults = SitePolicy & { readonly name: string | null }

/** What administrators set. The configuration of the server applies where a value is null. */
export type SiteSettings = { readonly [Name in keyof SiteDefaults]: SiteDefaults[Name] | null } & {
  /** Site-wide rates: the percentages of downloads (0 is freeleech) and uploads that are counted. */
  readonly downloadPercent: number
  readonly uploadPercent: number
  /** `#` and six lower-case hex digits; null for the designed colour. */
  readonly accent: string | null
  /** The digest of the logo. */
  readonly logo: string | null
  /** Whether the checklist for a new site is hidden. */
  readonly checklistDismissed: boolean
  /** Whether the site ever had an administrator. */
  readonly hadAdministrator: boolean
}

/** Settings to change; the others stay as they are. */
export type SiteSettingsChanges = {
  [Name in Exclude<keyof SiteSettings, 'logo' | 'hadAdministrator'>]?: SiteSettings[Name] | undefined
}

/** The look of the site, and the policies that apply. */
export type CurrentSite = SitePolicy & Pick<SiteSettings, 'name' | 'accent' | 'logo' | 'hadAdministrator'>

/** The parts of a new site that are set up. */
export type Progress = {
  readonly look: boolean
  readonly registration: boolean
  readonly categories: boolean
  readonly rules: boolean
  readonly upload: boolean
}

/** The store of the site settings. Each method is one atomic change, recorded in the admin log. */
export type SiteSettingsStore = {
  read(): Promise<SiteSettings>
  change(changes: SiteSettingsChanges, by: ActedBy): Promise<SiteSettings>
  /** @param logo undefined to remove it */
  changeLogo(logo: Logo | undefined, by: ActedBy): Promise<SiteSettings>
  /** What a new site has by now. */
  progress(): Promise<Omit<Progress, 'look' | 'registration'>>
  /** The file of a logo; undefined if the digest is not the current one. */
  logo(digest: string): Promise<Buffer | undefined>
}

export type SiteConfiguration = ReturnType<typeof createSiteSettings>

const HOUR_SECONDS = 3_600

/** Reads and changes site-wide settings. */
export function createSiteSettings(deps: {
  store: SiteSettingsStore
  defaults: SiteDefaults
  invalidations: Invalidations
  clock: Clock
}) {
  const { store, defaults, invalidations, clock } = deps
  const cached = cachedValue({
    load: () => store.read(),
    changedBy: ['site-settings'],
    ...{ invalidations, clock, serveStale: true },
  })
  let shown: Logo | undefined

  async function current(): Promise<CurrentSite> {
    return inForce(await cached(), defaults)
  }

  async function changed(settings: SiteSettings): Promise<SiteSettings> {
    await invalidations.publish({ kind: 'site-settings' })
    return settings
  }
  return {
    defaults,
    /** The stored settings. */
    read: () => store.read(),

    /**
     * What applies now. It is cached; a change drops it on all replicas.
     *
     * @throws an error that `isUnavailable` recognises if nothing is cached and Postgres is unavailable
     */
    current,

    /** How long members should seed a completed torrent now; 0 for no rule. */
    requiredSeedSeconds: async (): Promise<number> => (await current()).seedHours * HOUR_SECONDS,

    /** The look that applies now; without Postgres, that of the configuration. */
    async look(): Promise<Pick<CurrentSite, 'name' | 'accent' | 'logo'>> {
      try {
        return await current()
      } catch (error) {
        if (!isUnavailable(error)) throw error
        return { name: defaults.name, accent: null, logo: null }
      }
    },

    change: async (changes: SiteSettingsChanges, actorId: string) =>
      changed(await store.change(changes, actedBy(clock, actorId))),

    /** Sets the logo, or removes it. @throws ApiError BAD_REQUEST if it is not a PNG within the limits */
    changeLogo: async (png: Buffer | undefined, actorId: string) =>
      changed(await store.changeLogo(png && readLogo(png), actedBy(clock, actorId))),

    /** The file of the current logo; undefined for another digest. Visitors read it, so Postgres is asked once per logo. */
    async logo(digest: string): Promise<Buffer | undefined> {
      if (digest !== (await current()).logo) return undefined
      if (digest !== shown?.digest) {
        const png = await store.logo(digest)
        shown = png && { digest, png }
      }
      return shown?.png
    },

    /** The checklist of a new site. */
    async checklist(): Promise<Progress & { readonly dismissed: boolean }> {
      const [settings, progress] = await Promise.all([store.read(), store.progress()])
      const { name, accent, logo, registration, checklistDismissed } = settings
      return {
        ...progress,
        look: [name ?? defaults.name, accent, logo].some((each) => each !== null),
        registration: registration !== null,
        dismissed: checklistDismissed,
      }
    },
  }
}

function inForce(settings: SiteSettings, defaults: SiteDefaults): CurrentSite {
  const { accent, logo, hadAdministrator } = settings
  return {
    name: settings.name ?? defaults.name,
    registration: settings.registration ?? defaults.registration,
    uploadApproval: settings.uploadApproval ?? defaults.uploadApproval,
    editApproval: settings.editApproval ?? defaults.editApproval,
    seedHours: settings.seedHours ?? defaults.seedHours,
    staffSecondFactor: settings.staffSecondFactor ?? defaults.staffSecondFactor,
    accent,
    logo,
    hadAdministrator,
  }
}
