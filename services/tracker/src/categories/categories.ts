import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/ids'
import { torznabIdOfSlug } from '@vault-and-tracker/torznab-xml'
import type { ActedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'

/** A category. Categories are a tree of two levels; a root has no parent. */
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
}

/** The store of categories. Each method is one atomic change, which the admin log records when `by` is given. */
export type CategoryStore = {
  /** Roots before children, each by position and name. */
  all(): Promise<readonly Category[]>
  /** Inserts all of them, or none when any category exists. @returns whether they were inserted */
  seed(categories: readonly Category[], now: Date, by: ActedBy | undefined): Promise<boolean>
  /** @throws ApiError CONFLICT when the slug is taken or the parent was deleted */
  create(category: Category, now: Date, by: ActedBy | undefined): Promise<Category>
  /** @throws ApiError CONFLICT when the slug is taken */
  change(id: string, changes: CategoryChanges, by: ActedBy | undefined): Promise<Category | undefined>
  /**
   * Removes a category that holds neither torrents nor subcategories.
   *
   * @throws ApiError CONFLICT when it holds any
   */
  remove(id: string, by: ActedBy | undefined): Promise<boolean>
}

export type Categories = ReturnType<typeof createCategories>

/** Lower-case words joined by dashes. */
export const SLUG_PATTERN = /^[a-z0-9]+(-[a-z0-9]+)*$/

type SeedNode = readonly [slug: string, name: string, torznabId: number, children?: readonly SeedNode[]]

/** The standard tree, which the action "Seed Torznab categories" creates. */
const SEED: readonly SeedNode[] = [
  [
    'movies',
    'Movies',
    2000,
    [
      ['movies-hd', 'HD', 2040],
      ['movies-uhd', 'UHD/4K', 2045],
      ['movies-sd', 'SD', 2030],
      ['movies-bluray', 'Blu-ray disc', 2050],
    ],
  ],
  [
    'tv',
    'TV',
    5000,
    [
      ['tv-hd', 'HD', 5040],
      ['tv-uhd', 'UHD/4K', 5045],
      ['tv-sd', 'SD', 5030],
      ['tv-anime', 'Anime', 5070],
      ['tv-documentary', 'Documentary', 5080],
    ],
  ],
  [
    'audio',
    'Audio',
    3000,
    [
      ['audio-mp3', 'MP3', 3010],
      ['audio-lossless', 'Lossless', 3040],
    ],
  ],
  [
    'games',
    'Games',
    4050,
    [
      ['games-pc', 'PC', 4050],
      ['games-console', 'Console', 1000],
      ['games-playstation', 'PlayStation', 1180],
      ['games-xbox', 'Xbox', 1040],
    ],
  ],
  [
    'software',
    'Software',
    4000,
    [
      ['software-windows', 'Windows', 4020],
      ['software-macos', 'macOS', 4030],
    ],
  ],
  [
    'books',
    'Books',
    7000,
    [
      ['ebooks', 'Ebooks', 7020],
      ['comics', 'Comics', 7030],
      ['magazines', 'Magazines', 7010],
    ],
  ],
  ['xxx', 'XXX', 6000],
  ['other', 'Other', 8000],
]

/** The standard tree as rows with new ids, parents first. */
function seedCategories(): readonly Category[] {
  const rows = (nodes: readonly SeedNode[], parentId: string | null): Category[] =>
    nodes.flatMap(([slug, name, torznabId, children = []], position) => {
      const id = newId()
      return [{ id, slug, name, torznabId, parentId, position }, ...rows(children, id)]
    })
  return rows(SEED, null)
}

/** Groups subcategories under their roots and keeps the order. */
export function treeOf(categories: readonly Category[]): readonly CategoryTree[] {
  return categories
    .filter((category) => category.parentId === null)
    .map((root) => ({ ...root, subcategories: categories.filter((category) => category.parentId === root.id) }))
}

/**
 * The category that a slug names. A well-known slug that no category has, for example `movies-4k`, names the category
 * with the same Torznab id.
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

/** Reads and changes the tree of categories. Changes take the id of the administrator who makes them. */
export function createCategories(deps: { store: CategoryStore; publish: PublishInvalidation; clock: Clock }) {
  const { store, clock } = deps
  const now = (): Date => new Date(clock.now())
  const actedBy = (actorId: string | undefined): ActedBy | undefined =>
    actorId === undefined ? undefined : { actorId, at: now() }
  const publishChange = (): Promise<void> => deps.publish({ kind: 'categories' })

  return {
    all: () => store.all(),

    /** The category that a slug names. @throws ApiError BAD_REQUEST when there is none */
    async bySlug(slug: string): Promise<Category> {
      const found = findBySlug(await store.all(), slug)
      if (found === undefined) throw apiError('BAD_REQUEST', 'category: there is no such category.')
      return found
    },

    /** Creates the standard tree. @throws ApiError CONFLICT when any category exists */
    async seed(actorId?: string): Promise<readonly Category[]> {
      if (!(await store.seed(seedCategories(), now(), actedBy(actorId))))
        throw apiError('CONFLICT', 'There are categories already. Delete all of them to seed again.')
      await publishChange()
      return store.all()
    },

    /**
     * @param input `torznabId` may be left out for a well-known slug; `parent` is the slug of a root
     * @throws ApiError BAD_REQUEST when the Torznab id is unknown or the parent is not a root; CONFLICT when the slug
     *   is taken
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
      if (torznabId === undefined) throw apiError('BAD_REQUEST', 'torznabId: is required for this slug.')
      const all = await store.all()
      const parent = all.find(({ slug }) => slug === input.parent)
      if (input.parent !== undefined && (parent === undefined || parent.parentId !== null))
        throw apiError('BAD_REQUEST', 'parent: must be the slug of a category without a parent.')
      const parentId = parent?.id ?? null
      const position = input.position ?? all.filter((category) => category.parentId === parentId).length
      const category = { id: newId(), slug: input.slug, name: input.name, torznabId, parentId, position }
      const created = await store.create(category, now(), actedBy(actorId))
      await publishChange()
      return created
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT when the slug is taken */
    async change(id: string, changes: CategoryChanges, actorId?: string): Promise<Category> {
      const changed = isId(id) ? await store.change(id, changes, actedBy(actorId)) : undefined
      if (changed === undefined) throw apiError('NOT_FOUND', 'There is no such category.')
      await publishChange()
      return changed
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT when it holds torrents or subcategories */
    async remove(id: string, actorId?: string): Promise<void> {
      if (!isId(id) || !(await store.remove(id, actedBy(actorId))))
        throw apiError('NOT_FOUND', 'There is no such category.')
      await publishChange()
    },
  }
}
