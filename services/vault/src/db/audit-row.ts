import type { NewEntry } from '../audit/audit.ts'

/** The row of an audit entry about a project. */
export function auditRow(entry: NewEntry, project: { uid: string; name: string }) {
  return {
    id: entry.id,
    project_uid: project.uid,
    project_id: project.name,
    action: entry.action,
    env: entry.env,
    requested_at: entry.requestedAt,
    ip: entry.address,
    detail: entry.detail === null ? null : JSON.stringify(entry.detail),
  }
}
