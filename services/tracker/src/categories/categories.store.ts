import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields, type Fields } from '../admin-log/admin-log.ts'
import { isForeignKeyViolation } from '../db/queries.store.ts'
import type { CategoriesTable, Db, Schema } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import { type Category, type CategoryStore, parentFor } from './categories.ts'

/** Categories in Postgres. */
export function createCategoryStore(db: Db): CategoryStore {
  return {
    all: () => allOf(db),

    async idsWithDeleted() {
      const rows = await db.selectFrom('categories').select('id').execute()
      return rows.map(({ id }) => id)
    },

    async count() {
      const { rows } = await sql<{ categoryId: string | null; torrents: number }>`
        select categories.id as "categoryId", sum(counted.torrents)::bigint as torrents
        from (
          select category_id, count(*) as torrents from torrents where deleted_at is null group by category_id
        ) as counted
        left join categories on categories.id = counted.category_id and categories.deleted_at is null
        group by categories.id`.execute(db)
      return rows
    },

    seed: (categories, now, by) =>
      db.transaction().execute(async (trx) => {
        // The second of two concurrent seeds waits here and then finds the categories of the first.
        await sql`lock table categories in share row exclusive mode`.execute(trx)
        if ((await allOf(trx)).length > 0) return false
        await insert(trx, categories, now)
        const target = { type: 'category', id: null, name: null } as const
        const after = { categories: categories.length }
        await recordAdminAction(trx, by, { action: 'category.seed', target, before: null, after })
        return true
      }),

    async create(category, now, by) {
      try {
        return await db.transaction().execute(async (trx) => {
          if (!(await isThere(trx, category.parentId)))
            throw apiError('CONFLICT', 'The parent was deleted in the meantime.')
          const [created = category] = await insert(trx, [category], now)
          const change = { before: null, after: fieldsOf(created) }
          await recordAdminAction(trx, by, { action: 'category.create', target: targetOf(created), ...change })
          return created
        })
      } catch (error) {
        throw slugConflict(error)
      }
    },

    async change(id, changes, by) {
      try {
        return await db.transaction().execute(async (trx) => {
          await lockTree(trx)
          const all = await allOf(trx)
          const before = all.find((category) => category.id === id)
          if (before === undefined) return undefined
          const parentId = changes.parent === undefined ? before.parentId : parentFor(all, changes.parent, id)
          const last = all.filter((category) => category.parentId === parentId).length
          const position = parentId === before.parentId ? before.position : last
          const row = await trx
            .updateTable('categories')
            .set({
              slug: changes.slug ?? before.slug,
              name: changes.name ?? before.name,
              torznab_id: changes.torznabId ?? before.torznabId,
              parent_id: parentId,
              position: changes.position ?? position,
            })
            .where('id', '=', id)
            .returningAll()
            .executeTakeFirstOrThrow()
          const after = toCategory(row)
          const changed = changedFields(fieldsOf(before), fieldsOf(after))
          if (changed)
            await recordAdminAction(trx, by, { action: 'category.update', target: targetOf(after), ...changed })
          return after
        })
      } catch (error) {
        throw slugConflict(error)
      }
    },

    async remove(id, by) {
      try {
        return await db.transaction().execute(async (trx) => {
          const found = trx.selectFrom('categories').select('id').where('id', '=', id).where('deleted_at', 'is', null)
          if ((await found.forUpdate().executeTakeFirst()) === undefined) return undefined
          const feeds = await trx.deleteFrom('tokens').where('category_id', '=', id).returning('announce_key').execute()
          const row = await trx.deleteFrom('categories').where('id', '=', id).returningAll().executeTakeFirstOrThrow()
          const removed = toCategory(row)
          const change = { before: fieldsOf(removed), after: null }
          await recordAdminAction(trx, by, { action: 'category.delete', target: targetOf(removed), ...change })
          return feeds.map(({ announce_key: key }) => key)
        })
      } catch (error) {
        if (isForeignKeyViolation(error))
          throw apiError('CONFLICT', 'This category contains torrents or subcategories. Move or delete them first.')
        throw error
      }
    },

    removeAll: (now, by) =>
      db.transaction().execute(async (trx) => {
        await lockTree(trx)
        const { torrents } = await trx
          .selectFrom('torrents')
          .innerJoin('categories', 'categories.id', 'torrents.category_id')
          .select((eb) => eb.fn.countAll<number>().as('torrents'))
          .where('torrents.deleted_at', 'is', null)
          .where('categories.deleted_at', 'is', null)
          .executeTakeFirstOrThrow()
        // Torrents keep the id: changing a million rows takes minutes, and a new category with the same slug reuses it.
        const removed = await trx
          .updateTable('categories')
          .set({ deleted_at: now, parent_id: null })
          .where('deleted_at', 'is', null)
          .returning('id')
          .execute()
        const feeds = await trx
          .selectFrom('tokens')
          .select('announce_key')
          .where('category_id', 'is not', null)
          .execute()
        const done = { categories: removed.length, torrents }
        const target = { type: 'category', id: null, name: null } as const
        if (by && removed.length > 0)
          await recordAdminAction(trx, by, { action: 'category.delete-all', target, before: done, after: null })
        return { removed: done, ended: feeds.map(({ announce_key: key }) => key) }
      }),

    arrange: (ids, by) =>
      db.transaction().execute(async (trx) => {
        await lockTree(trx)
        const before = await allOf(trx)
        const given = new Set(ids)
        const isComplete = ids.length === before.length && before.every(({ id }) => given.has(id))
        if (!isComplete) return false
        await sql`
          update categories set position = ranked.position
          from (
            select given.id, row_number() over (partition by parent_id order by place) - 1 as position
            from unnest(${[...ids]}::uuid[]) with ordinality as given (id, place)
            join categories on categories.id = given.id
          ) as ranked
          where categories.id = ranked.id and categories.position <> ranked.position`.execute(trx)
        const changed = changedFields(positionsOf(before), positionsOf(await allOf(trx)))
        const target = { type: 'category', id: null, name: null } as const
        if (changed) await recordAdminAction(trx, by, { action: 'category.arrange', target, ...changed })
        return true
      }),
  }
}

/** Serialises changes of the tree, and uploads against them. Reads are not blocked. */
async function lockTree(trx: Transaction<Schema>): Promise<void> {
  await sql`lock table categories in exclusive mode`.execute(trx)
}

async function allOf(from: Db): Promise<readonly Category[]> {
  const rows = await from
    .selectFrom('categories')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy(sql`parent_id is not null`)
    .orderBy('position')
    .orderBy('name')
    .orderBy('id')
    .execute()
  return rows.map(toCategory)
}

/** Locks a parent against deletion. */
async function isThere(trx: Transaction<Schema>, id: string | null): Promise<boolean> {
  if (id === null) return true
  const query = trx.selectFrom('categories').select('id').where('id', '=', id).where('deleted_at', 'is', null)
  return (await query.forShare().executeTakeFirst()) !== undefined
}

/** Inserts categories, parents first. A slug that was deleted with all others gets its old id back. */
async function insert(
  trx: Transaction<Schema>,
  categories: readonly Category[],
  now: Date,
): Promise<readonly Category[]> {
  const slugs = categories.map(({ slug }) => slug)
  const deleted = await trx
    .selectFrom('categories')
    .select(['id', 'slug'])
    .where('slug', 'in', slugs)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .forUpdate()
    .execute()
  const back = new Map(deleted.map(({ slug, id }) => [slug, id]))
  const ids = new Map(categories.map(({ id, slug }) => [id, back.get(slug) ?? id]))
  const rows = categories.map((category) => ({
    ...category,
    id: ids.get(category.id) ?? category.id,
    parentId: category.parentId === null ? null : (ids.get(category.parentId) ?? category.parentId),
  }))
  await trx
    .insertInto('categories')
    .values(rows.map((category) => toRow(category, now)))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        name: eb.ref('excluded.name'),
        torznab_id: eb.ref('excluded.torznab_id'),
        parent_id: eb.ref('excluded.parent_id'),
        position: eb.ref('excluded.position'),
        deleted_at: null,
      })),
    )
    .execute()
  return rows
}

function positionsOf(categories: readonly Category[]): Fields {
  return Object.fromEntries(categories.map(({ slug, position }) => [slug, position]))
}

function targetOf({ id, name }: Category) {
  return { type: 'category', id, name } as const
}

/** The fields that the admin log records. */
function fieldsOf({ slug, name, torznabId, parentId, position }: Category) {
  return { slug, name, torznabId, parentId, position }
}

function slugConflict(error: unknown): unknown {
  return violatedUniqueConstraint(error) === 'categories_slug_unique'
    ? apiError('CONFLICT', 'slug: this slug is taken.')
    : error
}

function toRow(category: Category, now: Date) {
  const { id, slug, name, torznabId, parentId, position } = category
  return { id, slug, name, torznab_id: torznabId, parent_id: parentId, position, created_at: now }
}

function toCategory(row: Selectable<CategoriesTable>): Category {
  const { id, slug, name, position } = row
  return { id, slug, name, torznabId: row.torznab_id, parentId: row.parent_id, position }
}
