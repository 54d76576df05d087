import type { Generated } from 'kysely'

/** Projects and their keys. */
export type ProjectTables = {
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
    name: Generated<string>
    expires_at: Date | null
    revoked_at: Date | null
    access: Generated<string>
    envs: string[] | null
    last_used_at: Date | null
    code: Buffer | null
  }
}
