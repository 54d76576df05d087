import { useQuery } from '@tanstack/react-query'
import { categories, flatten } from './queries.ts'

/** The categories as options, subcategories indented. */
export function CategoryOptions() {
  const { data = [] } = useQuery(categories)
  return flatten(data).map(({ slug, name, level }) => (
    <option key={slug} value={slug}>
      {level === 0 ? name : `\u2003${name}`}
    </option>
  ))
}
