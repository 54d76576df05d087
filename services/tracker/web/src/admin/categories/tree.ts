import type { ManagedCategory } from '../../api/client.ts'

type Tree = readonly (ManagedCategory & { readonly subcategories: readonly ManagedCategory[] })[]

/** A category as a row of the tree in reading order. */
export type TreeRow = {
  readonly category: ManagedCategory
  readonly parent: ManagedCategory | undefined
  /** The ids of all categories with the same parent, itself included, in order. */
  readonly siblings: readonly string[]
  readonly subcategories: number
}

/** The tree in reading order. `order` has the ids in a new order of siblings. */
export function rowsOf(tree: Tree, order: readonly string[] = []): readonly TreeRow[] {
  const rank = new Map(order.map((id, index) => [id, index]))
  const sorted = <Node extends ManagedCategory>(nodes: readonly Node[]): readonly Node[] =>
    nodes.toSorted((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0))
  const roots = sorted(tree)
  return roots.flatMap((root) => {
    const below = sorted(root.subcategories)
    return [
      {
        category: root,
        parent: undefined,
        siblings: roots.map(({ id }) => id),
        subcategories: below.length,
      },
      ...below.map((category) => ({
        category,
        parent: root,
        siblings: below.map(({ id }) => id),
        subcategories: 0,
      })),
    ]
  })
}

/** All ids after moving a category one place up or down; undefined if it is already at the end. */
export function moved(rows: readonly TreeRow[], row: TreeRow, by: -1 | 1): readonly string[] | undefined {
  const { siblings, category } = row
  const other = siblings[siblings.indexOf(category.id) + by]
  if (other === undefined) return undefined
  const swap = new Map([
    [category.id, other],
    [other, category.id],
  ])
  return rows.map((each) => swap.get(each.category.id) ?? each.category.id)
}
