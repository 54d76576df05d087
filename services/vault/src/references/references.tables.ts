/** Which other projects may refer to secrets of a project. */
export type ReferenceTables = {
  reference_rules: {
    id: string
    project_uid: string
    reader_uid: string
    reader_envs: string[] | null
    envs: string[] | null
    keys: string[] | null
    created_at: Date
    code: Buffer
  }
}
