import { createRulesStore } from '../rules/rules.store.ts'
import { createRules } from '../rules/rules.ts'
import { createSiteSettingsStore } from '../site-settings/site-settings.store.ts'
import { createSiteSettings } from '../site-settings/site-settings.ts'
import type { Connections } from './connections.ts'

/** The use cases of the site: its settings, and its rules. */
export type Site = ReturnType<typeof createSite>

/** Creates the rules, and the site settings, whose defaults are in the configuration. */
export function createSite({ config, db, invalidations, clock }: Connections) {
  const siteConfiguration = createSiteSettings({
    store: createSiteSettingsStore(db),
    defaults: {
      name: config.SITE_NAME ?? null,
      registration: config.REGISTRATION,
      uploadApproval: config.UPLOAD_APPROVAL,
      editApproval: config.EDIT_APPROVAL,
      seedHours: config.SEED_HOURS,
      staffSecondFactor: config.STAFF_SECOND_FACTOR,
    },
    invalidations,
    clock,
  })
  return { siteConfiguration, rules: createRules({ store: createRulesStore(db), clock }) }
}
