/**
 * The rights of the run-time role: it reads and writes rows and changes no table. The audit log it can only read and
 * append to. It may not choose the number of an entry: the sealer reads entries by number, and an entry far ahead would
 * hide all that follow from it.
 *
 * @param role a plain role name, checked by the caller
 * @returns statements that can be run again at any time
 */
export function grants(role: string): readonly string[] {
  return [
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on projects, project_keys, project_deks, secrets, secret_versions to ${role}`,
    `grant select, insert, update on keks, audit_keys to ${role}`,
    `revoke insert on audit from ${role}`,
    `grant insert (id, project_uid, project_id, action, env, requested_at, ip, detail) on audit to ${role}`,
    `grant select on audit to ${role}`,
    `grant select, insert on audit_seals to ${role}`,
    `grant select on audit_prunings to ${role}`,
    `grant usage on sequence audit_seq to ${role}`,
    `grant execute on function audit_ensure_partitions(integer) to ${role}`,
  ]
}
