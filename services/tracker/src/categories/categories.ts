import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { torznabIdOfSlug } from '@vault-and-tracker/torznab-xml'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import { changedKeys, type PublishInvalidation } from '../invalidation/invalidation.ts'
import { familyFor, leafCategoryFor } from '../releases/leaf-category.ts'
import type { ParsedRelease } from '../releases/release.ts'
import { STANDARD_TREE, type StandardCategory } from './standard-tree.ts'

/** A category. The tree has two levels; roots have no parent. */
export type Category = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly torznabId: number
  readonly parentId: string | null
  readonly position: number
}

export type CategoryTree = Category & { readonly subcategories: readonly Category[] }

export type CategoryChanges = {
  readonly slug?: string | undefined
  readonly name?: string | undefined
  readonly torznabId?: number | undefined
  readonly position?: number | undefined
  /** The slug of a root; null for a category without a parent. */
  readonly parent?: string | null | undefined
}

/** The number of torrents in a category, without deleted ones; null for torrents whose category was deleted. */
export type CategoryCount = { readonly categoryId: string | null; readonly torrents: number }

/** The result of deleting all categories. */
export type RemovedCategories = { readonly categories: number; readonly torrents: number }

/** The announce keys of the feeds of deleted categories; null for a feed without one. */
type EndedKeys = readonly (string | null)[]

/**
 * The store of categories. Each method is one atomic change, which the admin log records if `by` is given.
 *
 * Deleting all categories keeps hidden rows for their torrents. A new category with the slug of one of them replaces it,
 * which puts its torrents into a category again.
 */
export type CategoryStore = {
  /** Roots before children, each by position and name. */
  all(): Promise<readonly Category[]>
  /** The ids of all categories that torrents refer to, including hidden ones. */
  idsWithDeleted(): Promise<readonly string[]>
  count(): Promise<readonly CategoryCount[]>
  /** Inserts all categories, or none if any category exists. @returns whether they were inserted */
  seed(categories: readonly Category[], now: Date, by: ActedBy | undefined): Promise<boolean>
  /** @throws ApiError CONFLICT if the slug is taken or the parent was deleted */
  create(category: Category, now: Date, by: ActedBy | undefined): Promise<Category>
  /** @throws ApiError CONFLICT if the slug is taken, BAD_REQUEST as `parentFor` does */
  change(id: string, changes: CategoryChanges, by: ActedBy | undefined): Promise<Category | undefined>
  /** @returns undefined if it did not exist @throws ApiError CONFLICT if it contains torrents or subcategories */
  remove(id: string, by: ActedBy | undefined): Promise<EndedKeys | undefined>
  /** Deletes all categories. Their torrents stay, without a category. */
  removeAll(now: Date, by: ActedBy | undefined): Promise<{ removed: RemovedCategories; ended: EndedKeys }>
  /** Orders siblings as their ids. @returns false if these are not the ids of all categories */
  arrange(ids: readonly string[], by: ActedBy | undefined): Promise<boolean>
}

export type Categories = ReturnType<typeof createCategories>

/** Lower-case words joined by dashes. */
export const SLUG_PATTERN = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** The standard tree as rows with new ids, parents first. */
function standardCategories(): readonly Category[] {
  const rows = (nodes: readonly StandardCategory[], parentId: string | null): Category[] =>
    nodes.flatMap(([slug, name, torznabId, subcategories = []], position) => {
      const id = newId()
      return [{ id, slug, name, torznabId, parentId, position }, ...rows(subcategories, id)]
    })
  return rows(STANDARD_TREE, null)
}

/** Groups subcategories under their roots, in the same order. */
export function treeOf(categories: readonly Category[]): readonly CategoryTree[] {
  return categories
    .filter((category) => category.parentId === null)
    .map((root) => ({ ...root, subcategories: categories.filter((category) => category.parentId === root.id) }))
}

/**
 * Finds a category by slug. A well-known slug without a category, such as `movies-4k`, finds the category with the same
 * Torznab ID.
 */
export function findBySlug(categories: readonly Category[], slug: string): Category | undefined {
  const torznabId = torznabIdOfSlug(slug)
  return (
    categories.find((category) => category.slug === slug) ??
    (torznabId === undefined ? undefined : categories.find((category) => category.torznabId === torznabId))
  )
}

/** A category and its subcategories. */
export function withSubcategories(categories: readonly Category[], category: Category): readonly Category[] {
  return [category, ...categories.filter(({ parentId }) => parentId === category.id)]
}

/**
 * Resolves the slug of a parent to an id; null for none.
 *
 * @throws ApiError BAD_REQUEST if the tree would have more than two levels, or the parent does not exist
 */
export function parentFor(all: readonly Category[], slug: string | null, categoryId?: string): string | null {
  if (slug === null) return null
  const parent = all.find((category) => category.slug === slug)
  if (parent === undefined || parent.parentId !== null || parent.id === categoryId)
    throw apiError('BAD_REQUEST', 'parent: must be the slug of another category without a parent.')
  if (categoryId !== undefined && all.some(({ parentId }) => parentId === categoryId))
    throw apiError('BAD_REQUEST', 'parent: a category with subcategories cannot be a subcategory.')
  return parent.id
}

/** Reads and changes the category tree. Changes take the id of the administrator. */
export function createCategories(deps: { store: CategoryStore; publish: PublishInvalidation; clock: Clock }) {
  const { store, clock } = deps
  const now = (): Date => new Date(clock.now())
  const publishChange = (ended: EndedKeys = []): Promise<void> =>
    deps.publish({ kind: 'categories' }, ...changedKeys(ended))

  return {
    all: () => store.all(),
    idsWithDeleted: () => store.idsWithDeleted(),
    count: () => store.count(),

    /**
     * The category for a release: the one with the slug or, if that is a root, the subcategory that fits the release,
     * because automation tools do not search roots.
     *
     * @throws ApiError BAD_REQUEST if there is no such category
     */
    async forRelease(slug: string, release: ParsedRelease): Promise<Category> {
      const all = await store.all()
      const chosen = findBySlug(all, slug)
      if (chosen === undefined) throw apiError('BAD_REQUEST', 'category: there is no such category.')
      if (chosen.parentId !== null) return chosen
      return leafCategoryFor(release, chosen, withSubcategories(all, chosen).slice(1))
    },

    /** The category that fits the name of a release; undefined if the name says too little. */
    async proposedFor(release: ParsedRelease): Promise<Category | undefined> {
      const family = familyFor(release)
      const all = await store.all()
      const root = all.find(({ parentId, torznabId }) => parentId === null && torznabId === family)
      return root && leafCategoryFor(release, root, withSubcategories(all, root).slice(1))
    },

    /** Creates the standard tree. @throws ApiError CONFLICT if any category exists */
    async seed(actorId?: string): Promise<readonly Category[]> {
      if (!(await store.seed(standardCategories(), now(), actedBy(clock, actorId))))
        throw apiError('CONFLICT', 'Categories already exist. Delete all of them before seeding again.')
      await publishChange()
      return store.all()
    },

    /**
     * @param input `torznabId` is optional for a well-known slug; `parent` is the slug of a root
     * @throws ApiError BAD_REQUEST if the Torznab ID is unknown or the parent is not a root; CONFLICT if the slug is
     *   taken
     */
    async create(
      input: {
        slug: string
        name: string
        torznabId?: number | undefined
        parent?: string | undefined
        position?: number | undefined
      },
      actorId?: string,
    ): Promise<Category> {
      const torznabId = input.torznabId ?? torznabIdOfSlug(input.slug)
      if (torznabId === undefined)
        throw apiError('BAD_REQUEST', 'torznabId: is required unless the slug is a standard one.')
      const all = await store.all()
      const parentId = parentFor(all, input.parent ?? null)
      const position = input.position ?? all.filter((category) => category.parentId === parentId).length
      const category = { id: newId(), slug: input.slug, name: input.name, torznabId, parentId, position }
      const created = await store.create(category, now(), actedBy(clock, actorId))
      await publishChange()
      return created
    },

    /** @throws ApiError NOT_FOUND, CONFLICT if the slug is taken, or BAD_REQUEST as `parentFor` does */
    async change(id: string, changes: CategoryChanges, actorId?: string): Promise<Category> {
      const changed = isId(id) ? await store.change(id, changes, actedBy(clock, actorId)) : undefined
      if (changed === undefined) throw apiError('NOT_FOUND', 'There is no such category.')
      await publishChange()
      return changed
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT if it contains torrents or subcategories */
    async remove(id: string, actorId?: string): Promise<void> {
      const ended = isId(id) ? await store.remove(id, actedBy(clock, actorId)) : undefined
      if (ended === undefined) throw apiError('NOT_FOUND', 'There is no such category.')
      await publishChange(ended)
    },

    /** Deletes all categories. Their torrents have no category until one with the same slug is created. */
    async removeAll(actorId?: string): Promise<RemovedCategories> {
      const { removed, ended } = await store.removeAll(now(), actedBy(clock, actorId))
      await publishChange(ended)
      return removed
    },

    /** Orders siblings as their ids. @throws ApiError CONFLICT if these are not the ids of all categories */
    async arrange(ids: readonly string[], actorId?: string): Promise<readonly Category[]> {
      if (!ids.every(isId) || !(await store.arrange(ids, actedBy(clock, actorId))))
        throw apiError('CONFLICT', 'The categories have changed. Reload them and try again.')
      await publishChange()
      return store.all()
    },
  }
}
