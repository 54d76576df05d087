import { observe } from '@vault-and-tracker/service-kit/metrics/registry'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ErrorCode } from '../errors.ts'
import type { ExpiryCounts } from '../expiry/expiry.ts'
import { REFUSED_TABLES, type RefusedTable } from '../integrity/rows.ts'

/** The vault's own metrics. docs/operations.md has their meaning. */
export function createVaultMetrics(registry: Registry) {
  const registers = [registry]
  const authenticationFailures = new Counter({
    name: 'vault_authentication_failures_total',
    help: 'Refused signatures, ID tokens and admin tokens, by error code.',
    labelNames: ['code'],
    registers,
  })
  const decryptionFailures = new Counter({
    name: 'vault_decryption_failures_total',
    help: 'Stored values that did not decrypt. Anything but 0 means damage or tampering.',
    registers,
  })
  const refusedRows = new Counter({
    name: 'vault_refused_rows_total',
    help: 'Rows that the vault did not write, by table. Anything but 0 means tampering or an unfinished upgrade.',
    labelNames: ['table'],
    registers,
  })
  // All series exist from the start, so that their first increase is visible.
  for (const table of REFUSED_TABLES) refusedRows.labels(table).inc(0)
  const endedKeyRequests = new Counter({
    name: 'vault_ended_key_requests_total',
    help: 'Refused requests with a valid signature of a key that expired or was revoked in the last 30 days, by state.',
    labelNames: ['state'],
    registers,
  })
  for (const state of ['expired', 'revoked']) endedKeyRequests.labels(state).inc(0)
  const webhookAttempts = new Counter({
    name: 'vault_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, by result: delivered, failed, or given_up after a day.',
    labelNames: ['result'],
    registers,
  })
  const sealed = new Gauge({
    name: 'vault_audit_sealed_timestamp_seconds',
    help: 'When the audit log was last sealed to its end. Alert if it is older than a minute.',
    registers,
  })
  const refusalsDropped = new Counter({
    name: 'vault_refusals_dropped_total',
    help: 'Audit entries of refused requests that Postgres did not accept. Anything but 0 is a bug.',
    registers,
  })

  return {
    authenticationFailed: (code: ErrorCode): void => authenticationFailures.inc({ code }),
    decryptionFailed: (): void => decryptionFailures.inc(),
    rowRefused: (table: RefusedTable): void => refusedRows.inc({ table }),
    endedKeyUsed: (state: 'expired' | 'revoked'): void => endedKeyRequests.inc({ state }),
    webhookAttempted: (result: 'delivered' | 'failed' | 'given_up'): void => webhookAttempts.inc({ result }),
    logSealed: (nowMs: number): void => sealed.set(nowMs / 1000),
    refusalDropped: (): void => refusalsDropped.inc(),

    /** Adds a gauge of the fetches that are being verified. */
    observePendingFetches: (count: () => number): void =>
      observe(registry, 'vault_pending_fetches', 'Fetches whose signature is being verified.', count),

    /** Adds a gauge of the secrets that expire; it stays as it is while they are not counted. */
    observeExpiringSecrets: (count: () => Promise<ExpiryCounts | undefined>): void => {
      new Gauge({
        name: 'vault_secrets_expiring',
        help: 'Secrets that are overdue, or expire within 7d or 30d, up to 10,000. At most a minute old.',
        labelNames: ['due'],
        registers,
        async collect() {
          for (const [due, secrets] of Object.entries((await count()) ?? {})) this.set({ due }, secrets)
        },
      })
    },

    /** Adds a gauge of the clients that wait for changes. */
    observeWaitingClients: (count: () => number): void =>
      observe(registry, 'vault_waiting_clients', 'Clients that wait for changes of secrets.', count),

    /** Adds a gauge of the time for which refused requests could not be written. */
    observeRefusalsDelay: (delayMs: () => number): void =>
      observe(
        registry,
        'vault_refusals_delay_seconds',
        'How long refused requests have been waiting for the audit log. Alert if it is above a minute.',
        () => delayMs() / 1000,
      ),
  }
}

/** The vault's own metrics. */
export type VaultMetrics = ReturnType<typeof createVaultMetrics>
