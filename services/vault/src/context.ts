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
import { type ConsoleParts, createConsoleParts } from './context/console.ts'
import { createRest, type Rest } from './context/rest.ts'
import { createProjectsAndSecrets, type ProjectsAndSecrets } from './context/secrets.ts'

/** What handlers call. */
export type UseCases = ProjectsAndSecrets['useCases'] & Pick<AuditParts, 'audit'> & ConsoleParts

/** The service, joined: what it does, who may call it, how it is watched, and how it ends. */
export type Context = {
  readonly useCases: UseCases
  readonly rest: Rest
  /** Nothing runs in the background before it is started. */
  readonly background: Pick<Background, 'start' | 'stop'>
  readonly metrics: Pick<Metrics, 'middleware' | 'handler'>
  /** Of the HTTP server that serves this context. */
  readonly unread: UnreadAnswers
  readonly checks: Checks
  /** The ids of the key-encryption keys, for the log. */
  readonly keyring: { readonly ids: readonly string[]; readonly activeId: string }
  /** Closes the connections; requests and background tasks must have ended. */
  readonly close: () => Promise<void>
}

/**
 * Connects to Postgres and Redis, checks the keyring against the database and joins the parts.
 *
 * @throws KeyringError naming the keys that are missing or different; UnavailableError when Redis does not respond.
 *   Then no connection is left open
 */
export function createContext(options: { config: Config; logger: Logger; clock: Clock }): Promise<Context> {
  return withResources(options.logger, (resources) => join({ ...options, resources }))
}

async function join(start: Start): Promise<Omit<Context, 'close'>> {
  const connections = await connect(start)
  const { audit, refusals, checks: auditChecks } = await createAuditParts(connections)
  const { useCases, signedRequests } = await createProjectsAndSecrets(connections)
  const { metrics, background, unread, keyring } = connections
  const checks = { ...connections.checks, ...auditChecks }
  createReadinessMetrics(metrics.registry, checks)
  return {
    useCases: { ...useCases, audit, ...createConsoleParts(connections, useCases.projects) },
    rest: createRest(connections, signedRequests, { refusals, administrators: useCases.administrators }),
    background,
    metrics: { middleware: metrics.middleware, handler: metrics.handler },
    unread,
    checks,
    keyring: { ids: [...keyring.keys.keys()], activeId: keyring.activeId },
  }
}
