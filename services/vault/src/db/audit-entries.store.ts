import type { NewEntry } from '../audit/audit.ts'
import type { Db } from './schema.ts'

/** An entry, and the project that it is about. Where only its name is known, `uid` is null; about none, the name is empty. */
type EntryOfProject = { readonly entry: NewEntry; readonly project: { uid: string | null; name: string } }

/** Inserts an audit entry about a project, in the transaction of the change that it records. */
export async function insertAuditEntry(trx: Db, entry: NewEntry, project: EntryOfProject['project']): Promise<void> {
  await insertAuditEntries(trx, [{ entry, project }])
}

/** Inserts several audit entries in one statement. */
export async function insertAuditEntries(trx: Db, entries: readonly EntryOfProject[]): Promise<void> {
  const rows = entries.map(({ entry, project }) => ({
    id: entry.id,
    project_uid: project.uid,
    project_id: project.name,
    action: entry.action,
    env: entry.env,
    requested_at: entry.requestedAt,
    ip: entry.address,
    actor: entry.actor,
    detail: entry.detail === null ? null : JSON.stringify(entry.detail),
  }))
  await trx.insertInto('audit').values(rows).execute()
}
