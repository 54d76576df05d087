import type { ColumnType, Generated } from 'kysely'

/** The audit log. */
export type AuditTables = {
  audit: {
    id: string
    seq: Generated<number>
    project_uid: string | null
    project_id: string
    action: string
    env: string | null
    requested_at: Date
    ip: string
    detail: ColumnType<unknown, string | null, never>
    actor: string | null
  }
}
