import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres'
import { type Selectable, sql } from 'kysely'
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

    seed: (categories, now) =>
      db.transaction().execute(async (trx) => {
        // Of two seeds at the same time, the second waits here and then finds the categories of the first.
        await sql`lock table categories in share row exclusive mode`.execute(trx)
        const existing = await trx.selectFrom('categories').select('id').limit(1).executeTakeFirst()
        if (existing !== undefined) return false
        await trx
          .insertInto('categories')
          .values(categories.map((category) => toRow(category, now)))
          .execute()
        return true
      }),

    async create(category, now) {
      try {
        await db.insertInto('categories').values(toRow(category, now)).execute()
      } catch (error) {
        throw isForeignKeyViolation(error)
          ? apiError('CONFLICT', 'The parent was deleted in the meantime.')
          : slugConflict(error)
      }
      return category
    },

    async change(id, changes) {
      try {
        const row = await db
          .updateTable('categories')
          .set((eb) => ({
            slug: changes.slug ?? eb.ref('slug'),
            name: changes.name ?? eb.ref('name'),
            torznab_id: changes.torznabId ?? eb.ref('torznab_id'),
            position: changes.position ?? eb.ref('position'),
          }))
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        return row && toCategory(row)
      } catch (error) {
        throw slugConflict(error)
      }
    },

    async remove(id) {
      try {
        const removed = await db.deleteFrom('categories').where('id', '=', id).executeTakeFirst()
        return removed.numDeletedRows > 0n
      } catch (error) {
        if (isForeignKeyViolation(error))
          throw apiError('CONFLICT', 'This category holds torrents or subcategories; move or delete them first.')
        throw error
      }
    },
  }
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
