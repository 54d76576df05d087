import type { ColumnType, Generated } from 'kysely'

/** The tables that reveal tampering. */
export type IntegrityTables = {
  audit_seals: {
    seal_no: number
    key_no: number
    seqs: number[]
    codes: Buffer
    position: number
    gaps: ColumnType<number[][], string, never>
    sealed_at: Date
    mac: Buffer | null
  }
  audit_prunings: {
    month: Date
    first_seq: number | null
    last_seq: number | null
    pruned_at: Date
    rows: number | null
    key_no: number | null
    mac: Buffer | null
  }
  high_water_marks: {
    id: string
    subject: string
    number: number
  }
  nonce_memory: {
    is_only: Generated<boolean>
    epoch: string
    ahead_until: Generated<number>
  }
}
