import { Gauge, type Registry } from 'prom-client'

/** Tells when the audit log was last found sealed. */
export function createSealMetrics(registry: Registry): { sealed: (nowMs: number) => void } {
  const timestamp = new Gauge({
    name: 'vault_audit_sealed_timestamp_seconds',
    help: 'When the audit log was last found sealed to its end. Alert when it is older than a minute.',
    registers: [registry],
  })
  return { sealed: (nowMs) => timestamp.set(nowMs / 1000) }
}
