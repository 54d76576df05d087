import type { Editor } from '../access/administrator.ts'
import { insertAuditEntry } from '../audit/audit.store.ts'
import { type Db, writeTransaction } from '../database.ts'
import { webhooks } from '../integrity/feature-rows.store.ts'
import { projectAmong } from '../projects/projects.store.ts'
import { insertDelivery } from './outbox.store.ts'
import type { WebhookStore } from './webhooks.ts'

/** Webhooks in Postgres. */
export function createWebhookStore(db: Db): WebhookStore {
  return {
    listOf: async (name) => {
      const project = await db.selectFrom('projects').select('uid').where('name', '=', name).executeTakeFirst()
      if (project === undefined) return undefined
      return webhooks(db)
        .select(['w.failures', 'w.retry_at as retryAt'])
        .where('w.project_uid', '=', project.uid)
        .orderBy('w.id')
        .execute()
    },

    add: (name, by, max, seal, entry) =>
      writeTransaction(db, by.wanted, async (trx) => {
        const project = await lockProject(trx, name, by)
        if (project === undefined) return 'no project'
        const { count } = await trx
          .selectFrom('webhooks')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('project_uid', '=', project.uid)
          .executeTakeFirstOrThrow()
        if (count >= max) return 'full'
        const { id, projectUid, url, enabled, revision, createdAt, code } = seal(project.uid)
        await trx
          .insertInto('webhooks')
          .values({ id, project_uid: projectUid, url, enabled, revision, created_at: createdAt, code })
          .execute()
        await insertAuditEntry(trx, entry, project)
        return 'added'
      }),

    change: (name, by, id, decide, entryFor) =>
      writeTransaction(db, by.wanted, async (trx) => {
        const project = await lockProject(trx, name, by)
        if (project === undefined) return false
        const before = await webhooks(trx)
          .where('w.id', '=', id)
          .where('w.project_uid', '=', project.uid)
          .forUpdate('w')
          .executeTakeFirst()
        if (before === undefined) return false
        const after = decide(before)
        const { url, enabled, revision, code } = after
        await trx
          .updateTable('webhooks')
          .set({ url, enabled, revision, code, failures: 0, retry_at: null })
          .where('id', '=', id)
          .execute()
        await insertAuditEntry(trx, entryFor(after), project)
        return true
      }),

    remove: (name, by, id, entryFor) =>
      writeTransaction(db, by.wanted, async (trx) => {
        const project = await lockProject(trx, name, by)
        if (project === undefined) return false
        const removed = await trx
          .deleteFrom('webhooks')
          .where('id', '=', id)
          .where('project_uid', '=', project.uid)
          .returning('url')
          .executeTakeFirst()
        if (removed !== undefined) await insertAuditEntry(trx, entryFor(removed.url), project)
        return removed !== undefined
      }),

    deliver: (name, by, delivery, entryFor) =>
      writeTransaction(db, by.wanted, async (trx) => {
        const project = await lockProject(trx, name, by)
        if (project === undefined) return false
        const webhook = await trx
          .selectFrom('webhooks')
          .select('url')
          .where('id', '=', delivery.webhookId)
          .where('project_uid', '=', project.uid)
          .executeTakeFirst()
        if (webhook === undefined) return false
        await insertDelivery(trx, delivery)
        await insertAuditEntry(trx, entryFor(webhook.url), project)
        return true
      }),

    deliveriesOf: async (name, id, limit) => {
      const webhook = await db
        .selectFrom('webhooks as w')
        .innerJoin('projects as p', 'p.uid', 'w.project_uid')
        .select('w.id')
        .where('w.id', '=', id)
        .where('p.name', '=', name)
        .executeTakeFirst()
      if (webhook === undefined) return undefined
      return db
        .selectFrom('webhook_deliveries')
        .select(['id', 'event', 'created_at as createdAt', 'attempts', 'next_at as nextAt'])
        .select(['delivered_at as deliveredAt', 'http_status as httpStatus', 'problem'])
        .where('webhook_id', '=', id)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
    },
  }
}

/** Locks a project of the administrator, so that its webhooks change one after another. */
function lockProject(trx: Db, name: string, { projects }: Editor) {
  return projectAmong(trx, name, projects).forNoKeyUpdate().executeTakeFirst()
}
