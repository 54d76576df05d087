import { Counter, Gauge, type Registry } from 'prom-client'

/** Tells when the audit log was last found sealed. */
export function createSealMetrics(registry: Registry): { sealed: (nowMs: number) => void } {
  const timestamp = new Gauge({
    name: 'vault_audit_sealed_timestamp_seconds',
    help: 'When the audit log was last found sealed to its end. Alert when it is older than a minute.',
    registers: [registry],
  })
  return { sealed: (nowMs) => timestamp.set(nowMs / 1000) }
}

/** Tells whether refused requests reach the audit log. */
export function createRefusalMetrics(registry: Registry, delayMs: () => number): { dropped: () => void } {
  new Gauge({
    name: 'vault_refusals_delay_seconds',
    help: 'For how long refused requests could not be written to the audit log. Alert when it is above a minute.',
    registers: [registry],
    collect() {
      this.set(delayMs() / 1000)
    },
  })
  const dropped = new Counter({
    name: 'vault_refusals_dropped_total',
    help: 'Entries of refused requests that Postgres did not accept. Anything but 0 is a bug.',
    registers: [registry],
  })
  return { dropped: () => dropped.inc() }
}
