/**
 * What the run-time role may do: work with rows, change no table, and with the audit log only add and read.
 *
 * @param role a plain role name, checked by the caller
 * @returns statements that can be run again at any time
 */
export function grants(role: string): readonly string[] {
  return [
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on projects, project_keys, project_deks, secrets, secret_versions to ${role}`,
    `grant select, insert, update on keks, audit_keys to ${role}`,
    `grant select, insert on audit, audit_seals to ${role}`,
    `grant select on audit_prunings to ${role}`,
    `grant usage on sequence audit_seq to ${role}`,
    `grant execute on function audit_ensure_partitions(integer) to ${role}`,
  ]
}
