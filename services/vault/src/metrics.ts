import { Counter, Gauge, type Registry } from 'prom-client'
import { ERRORS, type ErrorCode } from './errors.ts'

/** Registers the vault's own metrics. The only label is an error code of the table. */
export function createVaultMetrics(registry: Registry) {
  const refused = new Counter({
    name: 'vault_authentication_failures_total',
    help: 'Requests whose signature or admin token was refused, by error code.',
    labelNames: ['code'],
    registers: [registry],
  })
  return {
    decryptionFailures: new Counter({
      name: 'vault_decryption_failures_total',
      help: 'Stored values that did not decrypt. Anything but 0 means damage or tampering.',
      registers: [registry],
    }),
    auditSealed: new Gauge({
      name: 'vault_audit_sealed_timestamp_seconds',
      help: 'When the audit log was last found sealed to its end. Alert when it is older than a minute.',
      registers: [registry],
    }),
    /** Counts a refusal, and tells whether it is one of authentication. */
    countRefusal: (code: ErrorCode): boolean => {
      const failed = ERRORS[code].status === 401
      if (failed) refused.inc({ code })
      return failed
    },
  }
}
