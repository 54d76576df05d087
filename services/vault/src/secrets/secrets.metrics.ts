import { Counter, type Registry } from 'prom-client'

/** Counts stored values that do not decrypt. */
export function createDecryptionMetrics(registry: Registry): { failed: () => void } {
  const failures = new Counter({
    name: 'vault_decryption_failures_total',
    help: 'Stored values that did not decrypt. Anything but 0 means damage or tampering.',
    registers: [registry],
  })
  return { failed: () => failures.inc() }
}
