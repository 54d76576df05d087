import { z } from 'zod'
import { type BoundEndpoint, bind, defineEndpoint, plain } from '../rest/endpoint.routes.ts'
import { idParams, text } from '../rest/fields.routes.ts'
import { type Categories, type Category, SLUG_PATTERN, treeOf } from './categories.ts'

const category = z
  .object({ id: z.string(), slug: z.string(), name: z.string(), torznabId: z.int(), position: z.int() })
  .meta({ id: 'Category' })
const tree = z.object({
  items: z.array(category.extend({ subcategories: z.array(category) }).meta({ id: 'CategoryTree' })),
})

const slug = z
  .string()
  .regex(SLUG_PATTERN, 'must be lower-case words joined by dashes')
  .max(40, 'must be at most 40 characters long')
const name = text({ min: 1, max: 60 })
const torznabId = z.int().min(1, 'must be from 1 to 999999').max(999_999, 'must be from 1 to 999999')
const position = z.int().min(0).max(9_999)

const admin = { ...plain, limit: 'write', access: 'admin' } as const

/** The tree of categories; all but reading it is for administrators. */
export const categoryApi = {
  list: defineEndpoint({
    ...plain,
    method: 'GET',
    path: '/api/categories',
    summary: 'The tree of categories',
    access: 'anyone',
    limit: 'read',
    status: 200,
    answer: tree,
  }),
  seed: defineEndpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories/seed',
    summary: 'Create the standard tree; only where there is no category',
    status: 201,
    answer: tree,
    errors: ['CONFLICT'],
  }),
  create: defineEndpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories',
    summary: 'Add a category; `parent` is the slug of a root, `torznabId` may be left out for a well-known slug',
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
  }),
  change: defineEndpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/categories/:id',
    summary: 'Change a category',
    params: idParams,
    body: z.object({ slug, name, torznabId, position }).partial(),
    status: 200,
    answer: category,
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
  remove: defineEndpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/categories/:id',
    summary: 'Delete a category that holds neither torrents nor subcategories',
    params: idParams,
    status: 204,
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
}

/** The endpoints of categories. */
export function categoryRoutes(deps: { categories: Categories }): readonly BoundEndpoint[] {
  const { categories } = deps
  return [
    bind(categoryApi.list, async () => presentTree(await categories.all())),
    bind(categoryApi.seed, async () => presentTree(await categories.seed())),
    bind(categoryApi.create, async ({ body }) => present(await categories.create(body))),
    bind(categoryApi.change, async ({ params, body }) => present(await categories.change(params.id, body))),
    bind(categoryApi.remove, ({ params }) => categories.remove(params.id)),
  ]
}

function present({ id, slug, name, torznabId, position }: Category) {
  return { id, slug, name, torznabId, position }
}

function presentTree(all: readonly Category[]) {
  return { items: treeOf(all).map((root) => ({ ...present(root), subcategories: root.subcategories.map(present) })) }
}
