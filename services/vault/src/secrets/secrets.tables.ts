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
    actor: string | null
  }
  /**
   * Hints: they wake clients that wait for changes, and mark secrets in listings. What a fetch resolves is in the encrypted
   * value alone, so they have no code. The run-time role can add some, which wakes too often, and removes none.
   */
  secret_references: {
    secret_id: string
    version: number
    project_uid: string
    source: string
    project: string
    env: string
  }
  removed_secrets: {
    project_uid: string
    env: string
    key: string
    version: number
  }
}
