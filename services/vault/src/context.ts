import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Checks } from '@vault-and-tracker/service-kit/http/health'
import type { UnreadAnswers } from '@vault-and-tracker/service-kit/http/unread-answers'
import type { Background } from '@vault-and-tracker/service-kit/lifecycle/background'
import { withResources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { createReadinessMetrics } from '@vault-and-tracker/service-kit/metrics/operational'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import type { Config } from './config.ts'
import { type AuditParts, createAuditParts } from './context/audit.ts'
import { connect, type Start } from './context/connections.ts'
import { createProjectsAndSecrets, type ProjectsAndSecrets } from './context/projects-and-secrets.ts'
import { createRest, type Rest } from './context/rest.ts'
import { createSignInParts, type SignInParts } from './context/sign-in.ts'
import { createExpiryStore } from './expiry/expiry.store.ts'
import { createExpiry, type Expiry } from './expiry/expiry.ts'
import { createVerificationStore } from './integrity/chain.store.ts'
import { createRecentVerification, type RecentVerification } from './integrity/verification.ts'
import { createActivityStore } from './overview/activity.store.ts'
import { type Activity, createActivity } from './overview/activity.ts'
import { createOverviewStore } from './overview/overview.store.ts'
import { createOverview, type Overview } from './overview/overview.ts'

/** The use cases that handlers call. */
export type UseCases = ProjectsAndSecrets['useCases'] &
  Pick<AuditParts, 'audit'> &
  Omit<SignInParts, 'tokens'> & {
    readonly overview: Overview
    readonly activity: Activity
    readonly expiry: Expiry
    readonly recentVerification: RecentVerification
  }

/** The service: its use cases, guards, metrics and checks. */
export type Context = {
  readonly useCases: UseCases
  readonly rest: Rest
  readonly background: Pick<Background, 'start' | 'stop'>
  readonly metrics: Pick<Metrics, 'middleware' | 'handler'>
  readonly unread: UnreadAnswers
  readonly checks: Checks
  /** The ids of the key-encryption keys, for the log. */
  readonly keyring: { readonly ids: readonly string[]; readonly activeId: string }
  /** Closes the connections, after requests and background tasks have ended. */
  readonly close: () => Promise<void>
}

/**
 * Connects to Postgres and Redis, checks the keyring against the database and creates the service.
 *
 * @throws KeyringError listing missing and different keys; UnavailableError if Redis does not respond. No connection is
 *   left open then
 */
export function createContext(options: { config: Config; logger: Logger; clock: Clock }): Promise<Context> {
  return withResources(options.logger, (resources) => join({ ...options, resources }))
}

async function join(start: Start): Promise<Omit<Context, 'close'>> {
  const connections = await connect(start)
  const { audit, refusals, checks: auditChecks } = await createAuditParts(connections)
  const { useCases, signedRequests } = await createProjectsAndSecrets(connections)
  const { tokens, ...signIn } = await createSignInParts(connections, useCases.administrators)
  const { httpMetrics, background, unread, keyring, db, clock, chainKeys } = connections
  const checks = { ...connections.checks, ...auditChecks }
  const expiry = createExpiry({
    store: createExpiryStore(db),
    clock,
    onCountError: (error) => connections.logger.warn({ err: error }, 'counting expiring secrets failed'),
  })
  connections.metrics.observeExpiringSecrets(expiry.recentCounts)
  createReadinessMetrics(httpMetrics.registry, checks)
  return {
    useCases: {
      ...useCases,
      ...signIn,
      audit,
      overview: createOverview({ store: createOverviewStore(db), projects: useCases.projects, clock }),
      activity: createActivity({ store: createActivityStore(db), clock }),
      expiry,
      recentVerification: createRecentVerification({ store: createVerificationStore(db), chainKeys }),
    },
    rest: createRest(connections, signedRequests, { refusals, tokens, ...signIn }),
    background,
    metrics: { middleware: httpMetrics.middleware, handler: httpMetrics.handler },
    unread,
    checks,
    keyring: { ids: [...keyring.keys.keys()], activeId: keyring.activeId },
  }
}
