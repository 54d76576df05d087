/**
 * The rights of the run-time role, which reads and writes rows but cannot alter or truncate tables.
 *
 * @param role a plain role name, checked by the caller
 * @returns idempotent statements
 */
export function grants(role: string): readonly string[] {
  return [
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `revoke insert, update, delete on kysely_migration, kysely_migration_lock from ${role}`,
    `revoke insert, delete on site_settings from ${role}`,
    `revoke update, delete on rules, rule_acceptances from ${role}`,
    `revoke update on flush_log, events from ${role}`,
    `revoke update, delete on webhook_keys from ${role}`,
    `revoke update on setup_codes from ${role}`,
    `revoke delete on users from ${role}`,
    `revoke update, delete on admin_log from ${role}`,
    `revoke insert, delete on torznab_settings from ${role}`,
    `revoke update on torznab_requests from ${role}`,
    `revoke insert, delete on torznab_log_size from ${role}`,
    `revoke update on torznab_batches from ${role}`,
    `revoke delete on torznab_hours, torznab_users, torznab_counts, torznab_user_sets from ${role}`,
  ]
}
