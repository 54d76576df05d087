import { Counter, Gauge, type Registry } from 'prom-client'

/** Counts stored values that do not decrypt. */
export function createDecryptionMetrics(registry: Registry): { failed: () => void } {
  const failures = new Counter({
    name: 'vault_decryption_failures_total',
    help: 'Stored values that did not decrypt. Anything but 0 means damage or tampering.',
    registers: [registry],
  })
  return { failed: () => failures.inc() }
}

/** Tells how many fetches are being verified; the value is read when the metrics are. */
export function createPendingFetchMetrics(registry: Registry, countPending: () => number): void {
  new Gauge({
    name: 'vault_pending_fetches',
    help: 'Requests for all secrets of an environment whose signature is being verified.',
    registers: [registry],
    collect() {
      this.set(countPending())
    },
  })
}
