import { type Categories, type Category, withSubcategories } from '../categories/categories.ts'
import { leafCategoryFor } from '../releases/leaf-category.ts'
import type { ParsedRelease } from '../releases/release.ts'

/**
 * The chosen category or, when it is a root, the subcategory that fits the name: automation tools do not search roots.
 *
 * @throws ApiError BAD_REQUEST when there is no such category
 */
export async function chosenCategory(
  categories: Pick<Categories, 'all' | 'bySlug'>,
  slug: string,
  release: ParsedRelease,
): Promise<Category> {
  const chosen = await categories.bySlug(slug)
  if (chosen.parentId !== null) return chosen
  return leafCategoryFor(release, chosen, withSubcategories(await categories.all(), chosen).slice(1))
}
