import { z } from 'zod'
import { idParams, pageOf, pageOfAll, text, treeQuery } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { type Categories, type Category, SLUG_PATTERN, treeOf } from './categories.ts'

const category = z
  .object({ id: z.string(), slug: z.string(), name: z.string(), torznabId: z.int(), position: z.int() })
  .meta({ id: 'Category' })
export const categoryTree = category.extend({ subcategories: z.array(category) }).meta({ id: 'CategoryTree' })
const tree = pageOf(categoryTree)
/** The page of responses to requests without page parameters. */
const FIRST_PAGE = { page: 1, limit: 1_000 }

const managedCategory = category
  .extend({ torrents: z.int().meta({ description: 'number of torrents, without subcategories' }) })
  .meta({ id: 'ManagedCategory' })

const slug = z
  .string()
  .regex(SLUG_PATTERN, 'must be lower-case words joined by dashes')
  .max(40, 'must be at most 40 characters long')
const name = text({ min: 1, max: 60 })
const torznabId = z.int().min(1, 'must be from 1 to 999999').max(999_999, 'must be from 1 to 999999')
const position = z.int().min(0).max(9_999)

const endpoint = endpoints<{ categories: Categories }>()
const admin = { tag: 'categories', limit: 'write', access: 'admin' } as const

/** The category tree. Only administrators can change it. */
export const categoryEndpoints = [
  endpoint({
    tag: 'categories',
    method: 'GET',
    path: '/api/categories',
    operationId: 'listCategories',
    summary: 'List the category tree',
    access: 'anyone',
    limit: 'read',
    query: treeQuery,
    status: 200,
    answer: tree,
    handle: async ({ query }, { categories }) => presentTree(await categories.all(), query),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/categories',
    operationId: 'listManagedCategories',
    summary: 'List the category tree with the number of torrents in each category',
    query: treeQuery,
    answer: pageOf(
      managedCategory.extend({ subcategories: z.array(managedCategory) }).meta({ id: 'ManagedCategoryTree' }),
    ).extend({
      uncategorised: z.int().meta({ description: 'number of torrents whose category was deleted' }),
    }),
    handle: async ({ query }, { categories }) => {
      const [all, counts] = await Promise.all([categories.all(), categories.count()])
      const torrentsIn = (id: string | null): number =>
        counts.find(({ categoryId }) => categoryId === id)?.torrents ?? 0
      const managed = (each: Category) => ({ ...present(each), torrents: torrentsIn(each.id) })
      const items = treeOf(all).map((root) => ({ ...managed(root), subcategories: root.subcategories.map(managed) }))
      return { ...pageOfAll(items, query), uncategorised: torrentsIn(null) }
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/categories',
    operationId: 'deleteAllCategories',
    summary: 'Delete all categories; torrents stay, and return to a new category with the same slug',
    status: 200,
    answer: z.object({
      categories: z.int(),
      torrents: z.int().meta({ description: 'number of torrents left without a category' }),
    }),
    handle: ({ caller }, { categories }) => categories.removeAll(caller.session.account.id),
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories/order',
    operationId: 'orderCategories',
    summary: 'Set the order of categories within their parents',
    body: z.object({
      ids: z.array(z.string()).max(10_000).meta({ description: 'ids of all categories in the new order' }),
    }),
    status: 200,
    answer: tree,
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { categories }) =>
      presentTree(await categories.arrange(body.ids, caller.session.account.id)),
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories/seed',
    operationId: 'seedCategories',
    summary: 'Create the standard tree; fails if a category exists',
    status: 201,
    answer: tree,
    errors: ['CONFLICT'],
    handle: async ({ caller }, { categories }) => presentTree(await categories.seed(caller.session.account.id)),
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories',
    operationId: 'createCategory',
    summary: 'Create a category; `parent` is the slug of a root, `torznabId` is optional for a well-known slug',
    body: z.object({
      slug,
      name,
      torznabId: torznabId.optional(),
      parent: z.string().optional(),
      position: position.optional(),
    }),
    status: 201,
    answer: category,
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { categories }) =>
      present(await categories.create(body, caller.session.account.id)),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/categories/:id',
    operationId: 'updateCategory',
    summary: 'Change a category; `parent` is the slug of a root or null',
    params: idParams,
    body: z.object({ slug, name, torznabId, position, parent: z.string().nullable() }).partial(),
    status: 200,
    answer: category,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { categories }) =>
      present(await categories.change(params.id, body, caller.session.account.id)),
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/categories/:id',
    operationId: 'deleteCategory',
    summary: 'Delete a category without torrents or subcategories',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ params, caller }, { categories }) => categories.remove(params.id, caller.session.account.id),
  }),
]

function present({ id, slug, name, torznabId, position }: Category) {
  return { id, slug, name, torznabId, position }
}

export function presentTree(all: readonly Category[], page = FIRST_PAGE) {
  const roots = treeOf(all).map((root) => ({ ...present(root), subcategories: root.subcategories.map(present) }))
  return pageOfAll(roots, page)
}
