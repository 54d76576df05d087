import { Counter, type Registry } from 'prom-client'
import type { RefusedTable } from './authentic-projects.ts'

/** Counts rows that were refused because they are not authentic. */
export function createRefusedRowMetrics(registry: Registry): { refused: (table: RefusedTable) => void } {
  const refused = new Counter({
    name: 'vault_refused_rows_total',
    help: 'Stored rows that the vault did not write, by table. Anything but 0 means tampering, or an unfinished upgrade.',
    labelNames: ['table'],
    registers: [registry],
  })
  return { refused: (table) => refused.inc({ table }) }
}
