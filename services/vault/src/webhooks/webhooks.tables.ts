import type { Generated } from 'kysely'

/** Webhooks, and the events to deliver to them. */
export type WebhookTables = {
  webhooks: {
    id: string
    project_uid: string
    url: string
    enabled: boolean
    revision: number
    created_at: Date
    failures: Generated<number>
    retry_at: Generated<Date | null>
    code: Buffer
  }
  webhook_deliveries: {
    id: string
    webhook_id: string
    event: string
    payload: string
    created_at: Date
    attempts: Generated<number>
    next_at: Date | null
    leased_until: Generated<Date | null>
    delivered_at: Generated<Date | null>
    http_status: Generated<number | null>
    problem: Generated<string | null>
    code: Buffer
  }
}
