import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import type { Selectable, Transaction } from 'kysely'
import { sql } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields } from '../admin-log/admin-log.ts'
import { escapeLike, onPage, readPage, stateAt } from '../db/queries.store.ts'
import type { Db, Schema, UsersTable } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import { notify } from '../notices/notices.store.ts'
import type { NewNotice } from '../notices/notices.ts'
import type { Account, AccountChanges, AccountState, AccountStore, NewAccount } from './accounts.ts'

/** Accounts in Postgres. */
export function createAccountStore(db: Db, clock: Clock): AccountStore {
  const toAccount = (row: Selectable<UsersTable>): Account => accountAt(row, clock.now())

  const byName = (username: string) =>
    db.selectFrom('users').selectAll().where(sql<string>`lower(username)`, '=', username.toLowerCase())

  return {
    async byId(id) {
      const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toAccount(row)
    },

    async byIds(ids) {
      const rows = await db
        .selectFrom('users')
        .selectAll()
        .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
        .execute()
      return new Map(rows.map((row) => [row.id, toAccount(row)]))
    },

    async byUsername(username) {
      const row = await byName(username).executeTakeFirst()
      return row && toAccount(row)
    },

    async credentials(username) {
      const row = await byName(username).executeTakeFirst()
      return row && { account: toAccount(row), passwordHash: row.password_hash }
    },

    async create(account, invite) {
      try {
        return await db.transaction().execute(async (trx) => {
          // Before the insert, so that only people with an invite can find out which names and addresses are taken.
          const invitedBy = invite && (await lockInvite(trx, invite, account.createdAt))
          const row = await insertAccount(trx, account, invitedBy)
          if (invite !== undefined) await markInviteUsed(trx, invite, account.id, account.createdAt)
          if (invitedBy !== undefined) {
            const by = { actorId: account.id, at: account.createdAt }
            await notify(trx, by, [{ to: invitedBy, kind: 'invite', details: { username: account.username } }])
          }
          return toAccount(row)
        })
      } catch (error) {
        throw accountConflict(error)
      }
    },

    change: (id, changes, by, reason) =>
      db.transaction().execute(async (trx) => {
        const row = await lockAccount(trx, id, changes, clock.now())
        if (row === undefined) return undefined
        const before = toAccount(row)
        const after = await trx
          .updateTable('users')
          .set({
            role: changes.role ?? before.role,
            ...stateAfter(before, changes, reason),
            api_blocked: changes.apiBlocked ?? before.apiBlocked,
            can_download: changes.canDownload ?? before.canDownload,
            invites_left: changes.invitesLeft ?? before.invitesLeft,
            download_percent: changes.downloadPercent ?? before.downloadPercent,
            upload_percent: changes.uploadPercent ?? before.uploadPercent,
            announce_limit: changes.announceLimit,
          })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        const account = toAccount(after)
        const changed = changedFields(managedFields(before), managedFields(account))
        if (changed) {
          const after = reason === undefined ? changed.after : { ...changed.after, reason }
          const target = targetOf(account)
          await recordAdminAction(trx, by, { action: 'user.update', target, before: changed.before, after })
          if (by && ('downloadPercent' in changed.after || 'uploadPercent' in changed.after))
            await notify(trx, by, [ratesNotice(account)])
        }
        return account
      }),

    async replacePasskey(id, passkey, { keepAnnounceKeys, by }) {
      return db.transaction().execute(async (trx) => {
        const old = await trx.selectFrom('users').select('passkey').where('id', '=', id).forUpdate().executeTakeFirst()
        if (old === undefined) return undefined
        const row = await trx
          .updateTable('users')
          .set({ passkey })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        const ended = keepAnnounceKeys ? [] : await endAnnounceKeys(trx, id)
        const account = toAccount(row)
        // The log contains neither passkey, because its readers could announce with them.
        await recordAdminAction(trx, by, { action: 'user.passkey.reset', target: targetOf(account) })
        return { account, ended: [old.passkey, ...ended] }
      })
    },

    async announceKeysOf(id) {
      const rows = await db
        .selectFrom('tokens')
        .select('announce_key')
        .where('user_id', '=', id)
        .where('announce_key', 'is not', null)
        .$narrowType<{ announce_key: string }>()
        .execute()
      return rows.map(({ announce_key: key }) => key)
    },

    replacePassword: (id, passwordHash, replaces, by) =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('users')
          .set((eb) => ({ password_hash: passwordHash, session_epoch: eb('session_epoch', '+', 1) }))
          .where('id', '=', id)
          .$if(replaces !== undefined, (query) => query.where('password_hash', '=', replaces ?? ''))
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return undefined
        const account = toAccount(row)
        await recordAdminAction(trx, by, { action: 'user.password.reset', target: targetOf(account) })
        return account
      }),

    incrementSessionEpoch: (id, by) =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('users')
          .set((eb) => ({ session_epoch: eb('session_epoch', '+', 1) }))
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return undefined
        const account = toAccount(row)
        await recordAdminAction(trx, by, { action: 'user.sessions.end', target: targetOf(account) })
        return account
      }),

    async prefer(id, { statsPublic, passkeyOpensTorznab }) {
      const row = await db
        .updateTable('users')
        .set((eb) => ({
          stats_public: statsPublic ?? eb.ref('stats_public'),
          passkey_opens_torznab: passkeyOpensTorznab ?? eb.ref('passkey_opens_torznab'),
        }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && toAccount(row)
    },

    async recordLastSeen(id, at) {
      await db.updateTable('users').set({ last_seen_at: at }).where('id', '=', id).execute()
    },

    async list(query) {
      const { search, role, state } = query
      const matching = db.selectFrom('users').where((eb) => {
        const pattern = `%${escapeLike((search ?? '').toLowerCase())}%`
        const named = eb.or([
          eb(sql<string>`lower(username)`, 'like', pattern),
          eb(sql<string>`lower(email)`, 'like', pattern),
        ])
        return eb.and([
          ...(search === undefined ? [] : [named]),
          ...(role === undefined ? [] : [eb('role', '=', role)]),
          ...(state === undefined ? [] : [eb(stateInSql(clock.now()), '=', state)]),
        ])
      })
      const rows = matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').$call(onPage(query))
      const { items, ...rest } = await readPage(db, query, rows, matching.select('id'))
      return { ...rest, items: items.map(toAccount) }
    },
  }
}

/** Inserts an account. Its caller presents `accountConflict`. */
export function insertAccount(
  trx: Transaction<Schema>,
  account: NewAccount,
  invitedBy?: string,
): Promise<Selectable<UsersTable>> {
  return trx
    .insertInto('users')
    .values({
      id: account.id,
      username: account.username,
      email: account.email,
      password_hash: account.passwordHash,
      role: account.role,
      passkey: account.passkey,
      created_at: account.createdAt,
      last_seen_at: account.lastSeenAt,
      invited_by: invitedBy ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The ApiError CONFLICT of an insert whose name or address is taken; any other error as it is. */
export function accountConflict(error: unknown): unknown {
  const constraint = violatedUniqueConstraint(error)
  if (constraint === 'users_username_unique') return apiError('CONFLICT', 'username: this username is taken.')
  if (constraint === 'users_email_unique') return apiError('CONFLICT', 'email: this email address is in use.')
  return error
}

/**
 * Locks the row of an account. If the change may remove an administrator, all administrators are locked, so that the
 * second of two concurrent changes sees the result of the first. Rows are locked by id, as in the ledger, to prevent
 * deadlocks.
 *
 * @throws ApiError CONFLICT when no active administrator would be left
 */
async function lockAccount(
  trx: Transaction<Schema>,
  id: string,
  { role, state }: AccountChanges,
  now: number,
): Promise<Selectable<UsersTable> | undefined> {
  const mayLoseOne = (role ?? 'admin') !== 'admin' || (state ?? 'active') !== 'active'
  const rows = await trx
    .selectFrom('users')
    .selectAll()
    .where((eb) => {
      const named = eb('id', '=', id)
      const isAdministrator = eb.and([eb('role', '=', 'admin'), eb(stateInSql(now), '=', 'active')])
      return mayLoseOne ? eb.or([named, isAdministrator]) : named
    })
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const administrators = rows.filter((row) => row.role === 'admin' && stateAt(row, now) === 'active')
  if (mayLoseOne && administrators.length === 1 && administrators[0]?.id === id)
    throw apiError('CONFLICT', 'This is the last active administrator. Promote another user first.')
  return rows.find((row) => row.id === id)
}

/**
 * Locks a usable invite, so that only one of several registrations with the same code succeeds. Its creator is locked
 * too, which waits for a ban in progress.
 *
 * @returns the id of the user who created the invite
 */
async function lockInvite(trx: Transaction<Schema>, codeHash: Buffer, now: Date): Promise<string> {
  const invite = await trx
    .selectFrom('invites')
    .select('created_by')
    .where('code_hash', '=', codeHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst()
  // A separate statement, because a revocation also locks the invite first.
  const creator =
    invite &&
    (await trx
      .selectFrom('users')
      .select('id')
      .where('id', '=', invite.created_by)
      .where(stateInSql(now.getTime()), '=', 'active')
      .forShare()
      .executeTakeFirst())
  if (creator === undefined)
    throw apiError(
      'FORBIDDEN',
      'invite: this invite does not exist, has been used or has expired, or its creator can no longer invite.',
    )
  return creator.id
}

async function markInviteUsed(trx: Transaction<Schema>, codeHash: Buffer, userId: string, now: Date): Promise<void> {
  await trx.updateTable('invites').set({ used_by: userId, used_at: now }).where('code_hash', '=', codeHash).execute()
}

function ratesNotice({ id, downloadPercent, uploadPercent }: Account): NewNotice {
  return { to: id, kind: 'rates', topic: 'account', details: { scope: 'account', downloadPercent, uploadPercent } }
}

function targetOf({ id, username }: Account) {
  return { type: 'user', id, name: username } as const
}

/** The fields that administrators can change, for the admin log. */
function managedFields(account: Account) {
  const { role, state, apiBlocked, canDownload, invitesLeft, downloadPercent, uploadPercent, announceLimit } = account
  const suspendedUntil = account.suspendedUntil?.toISOString() ?? null
  const numbers = { invitesLeft, downloadPercent, uploadPercent, announceLimit }
  return { role, state, suspendedUntil, apiBlocked, canDownload, ...numbers }
}

/** @throws ApiError CONFLICT if an account that is not suspended gets an end of its suspension */
function stateAfter(
  before: Account,
  changes: AccountChanges,
  reason: string | undefined,
): Pick<Selectable<UsersTable>, 'state' | 'suspended_until' | 'state_reason'> {
  const { suspendedUntil } = changes
  const state = changes.state ?? before.state
  if (state !== 'suspended' && suspendedUntil)
    throw apiError('CONFLICT', 'suspendedUntil: can be set only for a suspended account')
  if (state === 'active') return { state, suspended_until: null, state_reason: null }
  // Other changes of the account, and their reasons, are not about its state.
  const isKept = state === before.state && suspendedUntil === undefined
  if (isKept) return { state, suspended_until: before.suspendedUntil, state_reason: before.stateReason }
  const earlier = state === before.state ? before.stateReason : null
  return { state, suspended_until: suspendedUntil ?? null, state_reason: reason ?? earlier }
}

/** Ends the announce keys of a user. @returns them */
async function endAnnounceKeys(trx: Transaction<Schema>, userId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    update tokens set announce_key = null
    from (
      select id, announce_key from tokens where user_id = ${userId} and announce_key is not null order by id for update
    ) as ended
    where tokens.id = ended.id returning ended.announce_key as key`.execute(trx)
  return rows.map(({ key }) => key)
}

/** As `stateAt`. */
function stateInSql(now: number) {
  return sql<AccountState>`case
    when state = 'suspended' and suspended_until <= ${new Date(now)}::timestamptz then 'active' else state end`
}

/** The account of a row at a time in milliseconds. */
export function accountAt(row: Selectable<UsersTable>, now: number): Account {
  const state = stateAt(row, now)
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    role: row.role,
    state,
    suspendedUntil: state === 'suspended' ? row.suspended_until : null,
    stateReason: state === 'active' ? null : row.state_reason,
    apiBlocked: row.api_blocked,
    canDownload: row.can_download,
    statsPublic: row.stats_public,
    passkeyOpensTorznab: row.passkey_opens_torznab,
    passkey: row.passkey,
    sessionEpoch: row.session_epoch,
    invitesLeft: row.invites_left,
    downloadPercent: row.download_percent,
    uploadPercent: row.upload_percent,
    announceLimit: row.announce_limit,
    uploaded: row.uploaded,
    downloaded: row.downloaded,
    uploadedActual: row.uploaded_actual,
    downloadedActual: row.downloaded_actual,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  }
}
