import { Counter, type Registry } from 'prom-client'
import type { ErrorCode } from '../errors.ts'

/** Counts failed authentications. The only label is an error code of the table. */
export function createAuthenticationMetrics(registry: Registry): { failed: (code: ErrorCode) => void } {
  const failures = new Counter({
    name: 'vault_authentication_failures_total',
    help: 'Requests whose signature or admin token was refused, by error code.',
    labelNames: ['code'],
    registers: [registry],
  })
  return { failed: (code) => failures.inc({ code }) }
}
