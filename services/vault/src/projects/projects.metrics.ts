import { Counter, type Registry } from 'prom-client'
import { REFUSED_TABLES, type RefusedTable } from './authentic-projects.ts'

/** Counts rows that were refused because they are not authentic. Every series exists from the start, so that its first increase is visible. */
export function createRefusedRowMetrics(registry: Registry): { refused: (table: RefusedTable) => void } {
  const refused = new Counter({
    name: 'vault_refused_rows_total',
    help: 'Stored rows that the vault did not write, by table. Anything but 0 means tampering, or an unfinished upgrade.',
    labelNames: ['table'],
    registers: [registry],
  })
  for (const table of REFUSED_TABLES) refused.labels(table).inc(0)
  return { refused: (table) => refused.inc({ table }) }
}
