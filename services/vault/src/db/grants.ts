/** The rights on each table, and its columns that may be updated. */
const RIGHTS: Readonly<Record<string, readonly [rights: string, columns: string]>> = {
  projects: ['select, insert, delete', 'require_content_digest, generation, code'],
  project_keys: ['select, insert, delete', 'not_after, revoked_at, code, last_used_at'],
  project_deks: ['select, insert, delete', 'kek_id, wrapped, encryptions'],
  secrets: ['select, insert, delete', 'version, updated_at, note, owner, expires_at'],
  secret_versions: ['select, insert', 'dek_v, blob'],
  environments: ['select, insert', 'revision, parent, code'],
  exchanged_keys: ['select, insert, delete', 'last_used_at'],
  keks: ['select, insert', 'retired_at'],
  audit_keys: ['select, insert', 'kek_id, wrapped'],
  webhooks: ['select, insert, delete', 'url, enabled, revision, code, failures, retry_at'],
  webhook_deliveries: ['select, insert, delete', 'attempts, next_at, leased_until, delivered_at, http_status, problem'],
  nonce_memory: ['select, insert', 'ahead_until'],
}

/**
 * The rights of the run-time role: it reads and writes rows, but does not change tables. It can only read and append to
 * the audit log, without choosing the number of an entry: the sealer reads by number, and an entry far ahead would hide
 * all later ones.
 *
 * @param role a plain role name, checked by the caller
 * @returns statements that can be repeated at any time
 */
export function grants(role: string): readonly string[] {
  return [
    `grant usage on schema public to ${role}`,
    // In one transaction per table, so that a running service always has its rights.
    ...Object.entries(RIGHTS).map(
      ([table, [rights, columns]]) =>
        `revoke all on ${table} from ${role}; grant ${rights}, update (${columns}) on ${table} to ${role}`,
    ),
    `revoke insert on audit from ${role};
      grant insert (id, project_uid, project_id, action, env, requested_at, ip, detail, actor) on audit to ${role}`,
    `grant select on audit to ${role}`,
    `grant select, insert, delete on administrators, administrator_sessions, trust_rules, reference_rules to ${role}`,
    `grant select, insert, delete on ended_exchanged_keys to ${role}`,
    `grant select, insert on audit_seals, administrator_projects, secret_references to ${role}`,
    `grant select on audit_prunings, high_water_marks, removed_secrets to ${role}`,
    `grant usage on sequence audit_seq to ${role}`,
    `grant execute on function audit_ensure_partitions(integer), drop_old_versions(uuid, integer) to ${role}`,
  ]
}
