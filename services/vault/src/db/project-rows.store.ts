import { sql } from 'kysely'
import type { SealedProject } from '../projects/authentic-projects.ts'
import { ACCESS } from '../projects/project-keys.ts'
import { codeUnlessOlder } from './high-water-marks.store.ts'
import type { Db } from './schema.ts'

/** A project with its keys, by its name. */
export async function readProject(db: Db, name: string): Promise<SealedProject | undefined> {
  return toProjects(await withKeys(db).where('p.name', '=', name).orderBy('k.id').execute())[0]
}

/** All projects with their keys, in the order of their names. */
export async function readProjects(db: Db): Promise<readonly SealedProject[]> {
  return toProjects(await withKeys(db).orderBy('p.name').orderBy('k.id').execute())
}

/** Writes a locked project after a change, with its keys. */
export async function writeProject(trx: Db, before: SealedProject, after: SealedProject): Promise<void> {
  const { uid, requireContentDigest, generation, code } = after
  const known = new Set(before.keys.map(({ id }) => id))
  const kept = new Set(after.keys.map(({ id }) => id))
  await trx
    .updateTable('projects')
    .set({ require_content_digest: requireContentDigest, generation, code })
    .where('uid', '=', uid)
    .execute()
  const removed = [...known].filter((id) => !kept.has(id))
  if (removed.length > 0) await trx.deleteFrom('project_keys').where('id', 'in', removed).execute()
  for (const key of after.keys) {
    if (known.has(key.id))
      await trx
        .updateTable('project_keys')
        .set({ not_after: key.notAfter, code: key.code })
        .where('id', '=', key.id)
        .execute()
    else await trx.insertInto('project_keys').values(keyRow(uid, key)).execute()
  }
}

/** One statement, so that a project and its keys are of the same generation. */
function withKeys(db: Db) {
  return db
    .selectFrom('projects as p')
    .leftJoin('project_keys as k', 'k.project_uid', 'p.uid')
    .select(['p.uid', 'p.name', 'p.require_content_digest', 'p.created_at', 'p.generation'])
    .select(codeUnlessOlder({ id: 'p.uid', number: sql.ref('p.generation'), code: 'p.code' }, 'project').as('code'))
    .select(['k.id', 'k.public_key', 'k.created_at as key_created_at', 'k.not_after', 'k.access', 'k.envs'])
    .select(['k.last_used_at', 'k.code as key_code'])
}

type Row = Awaited<ReturnType<ReturnType<typeof withKeys>['execute']>>[number]

function toProjects(rows: readonly Row[]): readonly SealedProject[] {
  const projects = new Map<string, SealedProject & { keys: SealedProject['keys'][number][] }>()
  for (const row of rows) {
    const { uid, name, require_content_digest: requireContentDigest, created_at: createdAt, generation, code } = row
    const project = projects.get(uid) ?? { uid, name, requireContentDigest, createdAt, generation, code, keys: [] }
    projects.set(uid, project)
    if (row.id === null || row.public_key === null || row.key_created_at === null) continue
    project.keys.push({
      id: row.id,
      publicKey: row.public_key,
      createdAt: row.key_created_at,
      notAfter: row.not_after,
      scope: { access: ACCESS.find((known) => known === row.access) ?? 'read', envs: row.envs },
      lastUsedAt: row.last_used_at,
      code: row.key_code,
    })
  }
  return [...projects.values()]
}

/** The row of a key. */
export function keyRow(projectUid: string, key: SealedProject['keys'][number]) {
  return {
    id: key.id,
    project_uid: projectUid,
    public_key: Buffer.from(key.publicKey),
    created_at: key.createdAt,
    not_after: key.notAfter,
    access: key.scope.access,
    envs: key.scope.envs === null ? null : [...key.scope.envs],
    code: key.code,
  }
}
