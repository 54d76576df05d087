import { useQuery } from '@tanstack/react-query'
import { categories, flatten } from './queries.ts'

/** The categories as options, by their full names: several have a subcategory HD. */
export function CategoryOptions() {
  const { data = [] } = useQuery(categories)
  return flatten(data).map(({ slug, path }) => (
    <option key={slug} value={slug} dir="auto">
      {path}
    </option>
  ))
}
