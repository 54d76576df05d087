import { sql } from 'kysely'
import type { SealedAdministrator } from '../admin/administrators.ts'
import { codeUnlessOlder } from './high-water-marks.store.ts'
import type { Db } from './schema.ts'

/** All named administrators, in the order in which they were added. */
export async function readAdministrators(db: Db): Promise<readonly SealedAdministrator[]> {
  return (await rows(db).orderBy('id').execute()).map(present)
}

/** The administrator with this hash of a token. */
export async function findAdministrator(db: Db, tokenHash: Buffer): Promise<SealedAdministrator | undefined> {
  const row = await rows(db).where('token_hash', '=', tokenHash).executeTakeFirst()
  return row && present(row)
}

function rows(db: Db) {
  return db
    .selectFrom('administrators')
    .select(['id', 'name', 'token_hash', 'role', 'projects', 'created_at', 'expires_at'])
    .select(codeUnlessOlder({ id: 'administrators.id', number: sql.lit(1), code: 'code' }, 'administrator').as('code'))
}

function present(row: Awaited<ReturnType<ReturnType<typeof rows>['execute']>>[number]): SealedAdministrator {
  return {
    id: row.id,
    name: row.name,
    tokenHash: row.token_hash,
    role: row.role,
    projects: row.projects,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    code: row.code,
  }
}
