import type { Generated } from 'kysely'

/** Trust rules, and the keys that were admitted for ID tokens. */
export type ExchangeTables = {
  trust_rules: {
    id: string
    project_uid: string
    name: string
    issuer: string
    audience: string
    algorithms: string[]
    /** Names of claims and their patterns, alternating. */
    claims: string[]
    access: string
    envs: string[] | null
    minutes: number
    created_at: Date
    code: Buffer
  }
  exchanged_keys: {
    id: string
    project_uid: string
    rule_id: string
    public_key: Buffer
    subject: string
    access: string
    envs: string[] | null
    created_at: Date
    expires_at: Date
    last_used_at: Generated<Date | null>
    code: Buffer
  }
  ended_exchanged_keys: {
    project_uid: string
    public_key: Buffer
    /** That of the trust rule. */
    name: string
    subject: string
    access: string
    envs: string[] | null
    created_at: Date
    last_used_at: Date | null
    ended_at: Date
    /** Whether it ended before it was to expire, alone or with its rule. */
    revoked: boolean
  }
}
