import { createMigrate, type Migrate } from '@vault-and-tracker/service-kit/postgres/migrate'
import { grants } from './grants.ts'
import { init } from './migrations/0001-init.ts'
import { search } from './migrations/0002-search.ts'
import { torznabAdmin } from './migrations/0004-torznab-admin.ts'
import { searchWords } from './migrations/0006-search-words.ts'
import { wordBeginnings } from './migrations/0007-word-beginnings.ts'
import { statistics } from './migrations/0008-statistics.ts'
import { deletedCategories } from './migrations/0009-deleted-categories.ts'
import { snatches } from './migrations/0010-snatches.ts'
import { rejections } from './migrations/0011-rejections.ts'
import { inviteAllowances } from './migrations/0012-invite-allowances.ts'
import { uploadQuotas } from './migrations/0013-upload-quotas.ts'
import { torznabLog } from './migrations/0014-torznab-log.ts'
import { torznabHours } from './migrations/0015-torznab-hours.ts'
import { filters } from './migrations/0016-filters.ts'
import { savedSearches } from './migrations/0017-saved-searches.ts'
import { releases } from './migrations/0018-releases.ts'
import { notices } from './migrations/0019-notices.ts'
import { secondFactors } from './migrations/0020-second-factors.ts'
import { siteLookAndRules } from './migrations/0021-site-look-and-rules.ts'
import { moderation } from './migrations/0022-moderation.ts'
import { listingTimes } from './migrations/0023-listing-times.ts'
import { sizeSteps } from './migrations/0024-size-steps.ts'
import { userAddresses } from './migrations/0025-user-addresses.ts'
import { apiTokens } from './migrations/0026-api-tokens.ts'
import { events } from './migrations/0027-events.ts'
import { torrentNumbers } from './migrations/0029-torrent-numbers.ts'
import { announceLimits } from './migrations/0030-announce-limits.ts'
import { categoryFeeds } from './migrations/0031-category-feeds.ts'
import { clientRules } from './migrations/0032-client-rules.ts'
import { webhooks } from './migrations/0033-webhooks.ts'
import { announceKeys } from './migrations/0035-announce-keys.ts'
import { firstAdministrator } from './migrations/0036-first-administrator.ts'
import { webhookPace } from './migrations/0037-webhook-pace.ts'
import { marks } from './migrations/0038-marks.ts'
import { sortBySnatches } from './migrations/0039-sort-by-snatches.ts'

/** All migrations. Add new ones at the end, and never change a released one. Numbers may have gaps. */
export const MIGRATIONS = {
  '0001-init': init,
  '0002-search': search,
  '0004-torznab-admin': torznabAdmin,
  '0006-search-words': searchWords,
  '0007-word-beginnings': wordBeginnings,
  '0008-statistics': statistics,
  '0009-deleted-categories': deletedCategories,
  '0010-snatches': snatches,
  '0011-rejections': rejections,
  '0012-invite-allowances': inviteAllowances,
  '0013-upload-quotas': uploadQuotas,
  '0014-torznab-log': torznabLog,
  '0015-torznab-hours': torznabHours,
  '0016-filters': filters,
  '0017-saved-searches': savedSearches,
  '0018-releases': releases,
  '0019-notices': notices,
  '0020-second-factors': secondFactors,
  '0021-site-look-and-rules': siteLookAndRules,
  '0022-moderation': moderation,
  '0023-listing-times': listingTimes,
  '0024-size-steps': sizeSteps,
  '0025-user-addresses': userAddresses,
  '0026-api-tokens': apiTokens,
  '0027-events': events,
  '0029-torrent-numbers': torrentNumbers,
  '0030-announce-limits': announceLimits,
  '0031-category-feeds': categoryFeeds,
  '0032-client-rules': clientRules,
  '0033-webhooks': webhooks,
  '0035-announce-keys': announceKeys,
  '0036-first-administrator': firstAdministrator,
  '0037-webhook-pace': webhookPace,
  '0038-marks': marks,
  '0039-sort-by-snatches': sortBySnatches,
}

/** Migrates the tracker's database to the latest schema. */
export const migrate: Migrate = createMigrate({ migrations: MIGRATIONS, grants })
