import { createAccountStore } from '../accounts/accounts.store.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createInviteStore } from '../accounts/invites.store.ts'
import { createInvites } from '../accounts/invites.ts'
import { createPasswords } from '../accounts/passwords.argon2.ts'
import { createSeedingDutyStore } from '../accounts/seeding-duties.store.ts'
import { createSeedingDuties } from '../accounts/seeding-duties.ts'
import { createSessionStore } from '../accounts/sessions.redis.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createActivityStore } from '../accounts/stats.store.ts'
import { createStats } from '../accounts/stats.ts'
import { createTransferDays } from '../accounts/transfer-history.store.ts'
import { createTransferHistory } from '../accounts/transfer-history.ts'
import { timeToLive } from '../swarm/interval.ts'
import type { Connections } from './connections.ts'

/** The use cases of accounts. */
export type AccountUseCases = Awaited<ReturnType<typeof createAccountUseCases>>

/** Creates accounts, sessions, invites and user statistics. */
export async function createAccountUseCases({ config, db, redis, invalidations, clock }: Connections) {
  const store = createAccountStore(db)
  const accounts = createAccounts({
    store,
    passwords: await createPasswords(),
    publish: invalidations.publish,
    registration: config.REGISTRATION,
    clock,
  })
  const peerTtlMs = timeToLive(config.ANNOUNCE_INTERVAL) * 1_000
  return {
    accounts,
    sessions: createSessions({ store: createSessionStore(redis), accounts: store, clock }),
    invites: createInvites({ store: createInviteStore(db), clock }),
    stats: createStats({ accounts, activity: createActivityStore(db), clock, peerTtlMs }),
    transferHistory: createTransferHistory({ accounts, days: createTransferDays(db), clock }),
    seedingDuties: createSeedingDuties({
      store: createSeedingDutyStore(db),
      requiredSeconds: config.SEED_HOURS * 3_600,
      clock,
      peerTtlMs,
    }),
    /** The announce URL of a user. */
    announceUrl: (passkey: string): string => `${config.PUBLIC_URL}/announce?passkey=${passkey}`,
    siteInformation: { registration: config.REGISTRATION, torznabUrl: `${config.PUBLIC_URL}/api/torznab` },
  }
}
