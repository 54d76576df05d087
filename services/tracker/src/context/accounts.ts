import { createAccountStore } from '../accounts/accounts.store.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createActivityStore } from '../accounts/activity.store.ts'
import { createActivity } from '../accounts/activity.ts'
import { createInviteStore } from '../accounts/invites.store.ts'
import { createInvites } from '../accounts/invites.ts'
import { createPasswords } from '../accounts/passwords.argon2.ts'
import { createSessionStore } from '../accounts/sessions.redis.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createPendingSignInStore } from '../accounts/sign-ins.redis.ts'
import { createSignIns } from '../accounts/sign-ins.ts'
import { createFactorStore } from '../factors/factors.store.ts'
import { createFactors } from '../factors/factors.ts'
import { createSetupStore } from '../factors/setups.redis.ts'
import { createNoticeStore } from '../notices/notices.store.ts'
import { createNotices } from '../notices/notices.ts'
import { createReseedStore } from '../notices/reseeds.store.ts'
import { createReseeds } from '../notices/reseeds.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'
import { timeToLive } from '../swarm/interval.ts'
import type { Connections } from './connections.ts'

/** The use cases of accounts. */
export type AccountUseCases = Awaited<ReturnType<typeof createAccountUseCases>>

/** Creates accounts, sessions, invites, notices and user statistics. */
export async function createAccountUseCases(
  { config, db, redis, invalidations, clock }: Connections,
  site: SiteConfiguration,
) {
  const store = createAccountStore(db)
  const accounts = createAccounts({
    store,
    passwords: await createPasswords(),
    publish: invalidations.publish,
    registration: async () => (await site.current()).registration,
    clock,
  })
  const isRequiredForStaff = async (): Promise<boolean> => (await site.current()).staffSecondFactor
  const { hostname, origin } = new URL(config.PUBLIC_URL)
  const factors = createFactors({
    store: createFactorStore(db),
    setups: createSetupStore(redis),
    site: { id: hostname, origin },
    siteName: async () => (await site.look()).name ?? hostname,
    clock,
    isRequiredForStaff,
  })
  return {
    accounts,
    factors,
    isFactorRequired: isRequiredForStaff,
    signIns: createSignIns({ accounts, factors, store: createPendingSignInStore(redis), clock }),
    sessions: createSessions({ store: createSessionStore(redis), accounts: store, clock }),
    invites: createInvites({ store: createInviteStore(db), clock }),
    activity: createActivity({
      accounts,
      store: createActivityStore(db),
      clock,
      peerTtlMs: timeToLive(config.ANNOUNCE_INTERVAL) * 1_000,
      requiredSeedSeconds: () => site.requiredSeedSeconds(),
    }),
    notices: createNotices({ store: createNoticeStore(db), clock }),
    reseeds: createReseeds({ store: createReseedStore(db), clock }),
    /** The announce URL of a user. */
    announceUrl: (passkey: string): string => `${config.PUBLIC_URL}/announce?passkey=${passkey}`,
    siteInformation: async () => ({
      registration: (await site.current()).registration,
      torznabUrl: `${config.PUBLIC_URL}/api/torznab`,
    }),
  }
}
