import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres'
import { type Selectable, sql } from 'kysely'
import { changedFields } from '../admin-log/admin-log.ts'
import { recordAdminAction } from '../db/admin-log.ts'
import type { CategoriesTable, Db } from '../db/schema.ts'
import { isForeignKeyViolation } from '../db/violations.ts'
import { apiError } from '../errors.ts'
import type { Category, CategoryStore } from './categories.ts'

/** Categories in Postgres. */
export function createCategoryStore(db: Db): CategoryStore {
  return {
    async all() {
      const rows = await db
        .selectFrom('categories')
        .selectAll()
        .orderBy(sql`parent_id is not null`)
        .orderBy('position')
        .orderBy('name')
        .orderBy('id')
        .execute()
      return rows.map(toCategory)
    },

    seed: (categories, now, by) =>
      db.transaction().execute(async (trx) => {
        // Of two seeds at the same time, the second waits here and then finds the categories of the first.
        await sql`lock table categories in share row exclusive mode`.execute(trx)
        const existing = await trx.selectFrom('categories').select('id').limit(1).executeTakeFirst()
        if (existing !== undefined) return false
        await trx
          .insertInto('categories')
          .values(categories.map((category) => toRow(category, now)))
          .execute()
        const target = { type: 'category', id: null, name: null } as const
        const after = { categories: categories.length }
        if (by) await recordAdminAction(trx, { ...by, action: 'category.seed', target, before: null, after })
        return true
      }),

    async create(category, now, by) {
      try {
        await db.transaction().execute(async (trx) => {
          await trx.insertInto('categories').values(toRow(category, now)).execute()
          const change = { before: null, after: fieldsOf(category) }
          if (by)
            await recordAdminAction(trx, { ...by, action: 'category.create', target: targetOf(category), ...change })
        })
      } catch (error) {
        throw isForeignKeyViolation(error)
          ? apiError('CONFLICT', 'The parent was deleted in the meantime.')
          : slugConflict(error)
      }
      return category
    },

    async change(id, changes, by) {
      try {
        return await db.transaction().execute(async (trx) => {
          const before = await trx
            .selectFrom('categories')
            .selectAll()
            .where('id', '=', id)
            .forUpdate()
            .executeTakeFirst()
          if (before === undefined) return undefined
          const row = await trx
            .updateTable('categories')
            .set({
              slug: changes.slug ?? before.slug,
              name: changes.name ?? before.name,
              torznab_id: changes.torznabId ?? before.torznab_id,
              position: changes.position ?? before.position,
            })
            .where('id', '=', id)
            .returningAll()
            .executeTakeFirstOrThrow()
          const after = toCategory(row)
          const changed = changedFields(fieldsOf(toCategory(before)), fieldsOf(after))
          if (by && changed)
            await recordAdminAction(trx, { ...by, action: 'category.update', target: targetOf(after), ...changed })
          return after
        })
      } catch (error) {
        throw slugConflict(error)
      }
    },

    async remove(id, by) {
      try {
        return await db.transaction().execute(async (trx) => {
          const row = await trx.deleteFrom('categories').where('id', '=', id).returningAll().executeTakeFirst()
          if (row === undefined) return false
          const removed = toCategory(row)
          const change = { before: fieldsOf(removed), after: null }
          if (by)
            await recordAdminAction(trx, { ...by, action: 'category.delete', target: targetOf(removed), ...change })
          return true
        })
      } catch (error) {
        if (isForeignKeyViolation(error))
          throw apiError('CONFLICT', 'This category holds torrents or subcategories; move or delete them first.')
        throw error
      }
    },
  }
}

function targetOf({ id, name }: Category) {
  return { type: 'category', id, name } as const
}

/** The fields of a category that the admin log records. */
function fieldsOf({ slug, name, torznabId, parentId, position }: Category) {
  return { slug, name, torznabId, parentId, position }
}

function slugConflict(error: unknown): unknown {
  return violatedUniqueConstraint(error) === 'categories_slug_unique'
    ? apiError('CONFLICT', 'This slug is taken.')
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
