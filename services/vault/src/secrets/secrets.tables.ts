/** Secrets, their versions and their environments. */
export type SecretTables = {
  environments: {
    project_uid: string
    env: string
    revision: number
    parent: string | null
    code: Buffer
  }
  secrets: {
    id: string
    project_uid: string
    env: string
    key: string
    version: number
    updated_at: Date
    note: string | null
    owner: string | null
    expires_at: Date | null
  }
  secret_versions: {
    secret_id: string
    version: number
    dek_v: number
    blob: Buffer
    created_at: Date
  }
  removed_secrets: {
    project_uid: string
    env: string
    key: string
    version: number
  }
}
