import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { createAccountStore } from '../accounts/accounts.store.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createActivityStore } from '../accounts/activity.store.ts'
import { createActivity } from '../accounts/activity.ts'
import { createFirstAdministratorStore } from '../accounts/first-administrator.store.ts'
import { createFirstAdministrator } from '../accounts/first-administrator.ts'
import { createInviteStore } from '../accounts/invites.store.ts'
import { createInvites } from '../accounts/invites.ts'
import { createMailLinkStore } from '../accounts/mail-links.store.ts'
import { createMailLinks } from '../accounts/mail-links.ts'
import { createPasswords } from '../accounts/passwords.argon2.ts'
import { createSessionStore } from '../accounts/sessions.redis.ts'
import { createSessions } from '../accounts/sessions.ts'
import { createPendingSignInStore } from '../accounts/sign-ins.redis.ts'
import { createSignIns } from '../accounts/sign-ins.ts'
import type { RecordAddress } from '../addresses/addresses.ts'
import { createFactorStore } from '../factors/factors.store.ts'
import { createFactors } from '../factors/factors.ts'
import { createSetupStore } from '../factors/setups.redis.ts'
import { createOutbox, type Outbox } from '../mail/outbox.ts'
import { createDigestStore } from '../notices/notice-mails.store.ts'
import { createNoticeMails } from '../notices/notice-mails.ts'
import { createNoticeStore } from '../notices/notices.store.ts'
import { createNotices } from '../notices/notices.ts'
import { createReseedStore } from '../notices/reseeds.store.ts'
import { createReseeds } from '../notices/reseeds.ts'
import { createWarningStore } from '../reviews/warnings.store.ts'
import { createWarnings } from '../reviews/warnings.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'
import { timeToLive } from '../swarm/interval.ts'
import type { Connections } from './connections.ts'

const MAIL_NOTICES_EVERY_MS = 60_000

/** The use cases of accounts. */
export type AccountUseCases = Awaited<ReturnType<typeof createAccountUseCases>>

/** Creates accounts, sessions, invites, notices and user statistics. */
export async function createAccountUseCases(
  connections: Connections,
  site: SiteConfiguration,
  recordAddress: RecordAddress,
) {
  const { config, db, redis, invalidations, clock, background, logger } = connections
  const store = createAccountStore(db, clock)
  const passwords = await createPasswords()
  const accounts = createAccounts({
    store,
    passwords,
    publish: invalidations.publish,
    registration: async () => (await site.current()).registration,
    clock,
  })
  const isRequiredForStaff = async (): Promise<boolean> => (await site.current()).staffSecondFactor
  const { hostname, origin } = new URL(config.PUBLIC_URL)
  const siteName = async (): Promise<string> => (await site.look()).name ?? hostname
  const factors = createFactors({
    store: createFactorStore(db),
    setups: createSetupStore(redis),
    site: { id: hostname, origin },
    siteName,
    clock,
    isRequiredForStaff,
  })
  const outbox = await createMail(connections)
  const mailNotices =
    outbox && createNoticeMails({ store: createDigestStore(db), outbox, publicUrl: config.PUBLIC_URL, siteName, clock })
  if (mailNotices !== undefined)
    background.add({
      everyMs: MAIL_NOTICES_EVERY_MS,
      task: mailNotices,
      onError: (error) => logger.warn({ err: error }, 'emailing notices failed; will retry'),
    })
  const peerTtlMs = timeToLive(config.ANNOUNCE_INTERVAL) * 1_000
  return {
    accounts,
    firstAdministrator: createFirstAdministrator({
      ...{ store: createFirstAdministratorStore(db, clock), passwords, publish: invalidations.publish, clock },
    }),
    /** Sends due digests of notices; undefined if the site sends no email. */
    mailNotices,
    mailLinks: createMailLinks({
      store: createMailLinkStore(db),
      ...{ outbox, passwords, siteName, clock },
      publicUrl: config.PUBLIC_URL,
    }),
    factors,
    isFactorRequired: isRequiredForStaff,
    signIns: createSignIns({ accounts, factors, store: createPendingSignInStore(redis), clock }),
    sessions: createSessions({ store: createSessionStore(redis), accounts: store, recordAddress, clock }),
    invites: createInvites({ store: createInviteStore(db), clock }),
    activity: createActivity({ accounts, store: createActivityStore(db), clock, peerTtlMs }),
    warnings: createWarnings({ store: createWarningStore(db), accounts, clock }),
    notices: createNotices({ store: createNoticeStore(db), clock }),
    reseeds: createReseeds({ store: createReseedStore(db), clock }),
    /** The announce URL of a user. */
    announceUrl: (passkey: string): string => `${config.PUBLIC_URL}/announce?passkey=${passkey}`,
    siteInformation: async () => {
      const { registration, hadAdministrator } = await site.current()
      return {
        registration,
        torznabUrl: `${config.PUBLIC_URL}/api/torznab`,
        sendsEmail: outbox !== undefined,
        awaitsSetup: !hadAdministrator,
      }
    },
  }
}

/** The queue of emails; undefined if the site sends none. The library is loaded only if it does. */
async function createMail({ config, logger, resources }: Connections): Promise<Outbox | undefined> {
  const { SMTP_URL: url, SMTP_FROM, PUBLIC_URL } = config
  if (url === undefined) return undefined
  const { createSmtpSender } = await import('../mail/outbox.smtp.ts')
  const outbox = createOutbox({
    send: createSmtpSender({ url, from: SMTP_FROM ?? `tracker@${new URL(PUBLIC_URL).hostname}` }),
    // The messages of the library repeat addresses and what the server said.
    onFailure: (error) => logger.warn({ code: errorCode(error) }, 'sending an email failed'),
  })
  resources.defer(() => outbox.stop())
  return outbox
}
