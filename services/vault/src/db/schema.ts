import type { ColumnType, Generated, Kysely } from 'kysely'

/** The tables as Kysely sees them. The migrations create them. */
export type Schema = {
  projects: {
    uid: string
    name: string
    require_content_digest: Generated<boolean>
    created_at: Date
    generation: Generated<number>
    code: Buffer | null
  }
  project_keys: {
    id: string
    project_uid: string
    public_key: Buffer
    created_at: Date
    not_after: Date | null
    access: Generated<string>
    envs: string[] | null
    last_used_at: Date | null
    code: Buffer | null
  }
  environments: {
    project_uid: string
    env: string
    revision: number
    code: Buffer
  }
  administrators: {
    id: string
    name: string
    token_hash: Buffer
    role: string
    projects: string[] | null
    created_at: Date
    expires_at: Date | null
    code: Buffer
  }
  high_water_marks: {
    id: string
    subject: string
    number: number
  }
  removed_secrets: {
    project_uid: string
    env: string
    key: string
    version: number
  }
  administrator_projects: {
    administrator_id: string
    name: string
    project_uid: string
    code: Buffer
  }
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
  secrets: {
    id: string
    project_uid: string
    env: string
    key: string
    version: number
    updated_at: Date
  }
  secret_versions: {
    secret_id: string
    version: number
    dek_v: number
    blob: Buffer
    created_at: Date
  }
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
  audit_keys: {
    key_no: number
    kek_id: string
    wrapped: Buffer
    created_at: Date
  }
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
  nonce_memory: {
    is_only: Generated<boolean>
    epoch: string
    ahead_until: Generated<number>
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
}

/** A query builder over the vault's tables, or a transaction of one. */
export type Db = Kysely<Schema>
