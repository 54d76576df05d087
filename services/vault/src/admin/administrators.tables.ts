/** The tables of named administrators. */
export type AdministratorTables = {
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
  administrator_projects: {
    administrator_id: string
    name: string
    project_uid: string
    code: Buffer
  }
}
