/** Sessions of administrators who signed in with OIDC. */
export type SessionTables = {
  administrator_sessions: {
    id: string
    token_hash: Buffer
    subject: string
    name: string
    roles: string[]
    settings: string
    created_at: Date
    expires_at: Date
    code: Buffer
  }
}
