import type { Generated } from 'kysely'

/** Known key-encryption keys and the keys they wrap. */
export type KeyringTables = {
  keks: {
    kek_id: string
    fingerprint: string
    first_seen: Date
    retired_at: Date | null
  }
  project_deks: {
    project_uid: string
    dek_v: number
    kek_id: string
    wrapped: Buffer
    encryptions: Generated<number>
    created_at: Date
  }
  audit_keys: {
    key_no: number
    kek_id: string
    wrapped: Buffer
    created_at: Date
  }
}
