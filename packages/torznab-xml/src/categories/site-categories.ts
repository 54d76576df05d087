import { familyOfId } from './standard-categories.ts'

/** A category of the site. Several may have the same Torznab ID. */
export type SiteCategory = {
  readonly id: string
  readonly parentId: string | null
  readonly torznabId: number
  readonly name: string
}

/** A category of caps with its children. Caps has only two levels. */
export type CapsCategory = {
  readonly id: number
  readonly name: string
  readonly subcategories: readonly { readonly id: number; readonly name: string }[]
}

/**
 * The site's categories that requested ids cover: those with one of the ids, and all their descendants in the site's
 * tree and by number (5000 covers 5040). Unknown ids are ignored (Torznab 1.3, "'cat' parameter"). If all are unknown,
 * they cover nothing.
 */
export function coveredCategories<Category extends SiteCategory>(
  requested: readonly number[],
  site: readonly Category[],
): readonly Category[] {
  const wanted = new Set(requested)
  const covered = new Set(site.filter((category) => isAsked(category, wanted)))
  // Iterating over a set includes elements that are added meanwhile.
  for (const above of covered) for (const below of site) if (isBelow(below, above)) covered.add(below)
  return site.filter((category) => covered.has(category))
}

/** A family can be requested by its number even if the site only has parts of it. */
function isAsked({ torznabId }: SiteCategory, wanted: ReadonlySet<number>): boolean {
  const family = familyOfId(torznabId)
  return wanted.has(torznabId) || (family !== undefined && wanted.has(family))
}

function isBelow(category: SiteCategory, above: SiteCategory): boolean {
  return (
    category.parentId === above.id ||
    (above.torznabId !== category.torznabId && familyOfId(category.torznabId) === above.torznabId)
  )
}

/**
 * The ids of an item in one of the site's categories: its own first, then its ancestors in the tree, and its family if
 * the site has that, without duplicates. All of them are in caps; otherwise Prowlarr would drop the item.
 */
export function itemCategories(categoryId: string, site: readonly SiteCategory[]): readonly number[] {
  const ids = new Set<number>()
  const byId = new Map(site.map((category) => [category.id, category]))
  for (let at = byId.get(categoryId), steps = 0; at && steps < site.length; steps++) {
    ids.add(at.torznabId)
    at = at.parentId === null ? undefined : byId.get(at.parentId)
  }
  const [leaf] = ids
  const family = leaf === undefined ? undefined : familyOfId(leaf)
  if (family !== undefined && site.some(({ torznabId }) => torznabId === family)) ids.add(family)
  return [...ids]
}

/**
 * The site's categories for caps: two levels, each id once. Deeper categories become children of their root, and an id
 * that is both root and child becomes a root.
 */
export function capsCategories(site: readonly SiteCategory[]): readonly CapsCategory[] {
  const byId = new Map(site.map((category) => [category.id, category]))
  const rootOf = (category: SiteCategory): SiteCategory => {
    let root = category
    for (let steps = 0; root.parentId !== null && steps < site.length; steps++) root = byId.get(root.parentId) ?? root
    return root
  }
  const roots = new Map<number, { name: string; subcategories: Map<number, string> }>()
  for (const category of site) {
    if (category.parentId !== null || roots.has(category.torznabId)) continue
    roots.set(category.torznabId, { name: category.name, subcategories: new Map() })
  }
  const shown = new Set(roots.keys())
  for (const category of site) {
    if (category.parentId === null || shown.has(category.torznabId)) continue
    shown.add(category.torznabId)
    roots.get(rootOf(category).torznabId)?.subcategories.set(category.torznabId, category.name)
  }
  return [...roots].map(([id, { name, subcategories }]) => ({
    id,
    name,
    subcategories: [...subcategories].map(([subId, subName]) => ({ id: subId, name: subName })),
  }))
}
