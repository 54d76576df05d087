import type { AnyOf, Criteria } from './criteria.ts'
import { sizeParts } from './size-steps.ts'

/** Each part costs 0.3 ms, even if it matches nothing. */
const MAX_GROUPS = 8

/**
 * Criteria that together match the same torrents, each of them once. The index is several times slower at alternatives
 * than at each of them, and the first parts may have enough matches.
 */
export function alternativesOf(criteria: Criteria): readonly Criteria[] {
  const { categoryIds = [], facets, release } = criteria
  const years = facets.find((any) => any.every((facet) => facet.startsWith('#y'))) ?? []
  return [
    sizesOf(criteria),
    split(categoryIds, (some) => ({ ...criteria, categoryIds: some })),
    split(years, (some) => ({ ...criteria, facets: facets.map((any) => (any === years ? some : any)) })),
    // A torrent has only one of these, but possibly several languages.
    ...(['resolution', 'source', 'codec'] as const).map((field) =>
      split(release[field] ?? [], (some) => ({ ...criteria, release: { ...release, [field]: some } })),
    ),
  ].reduce((most, parts) => (parts.length > most.length ? parts : most), [criteria])
}

function sizesOf(criteria: Criteria): readonly Criteria[] {
  const { minSize, maxSize } = criteria
  if (minSize === undefined && maxSize === undefined) return []
  const { whole, ends } = sizeParts({ minSize: minSize ?? 0, maxSize: maxSize ?? Number.MAX_SAFE_INTEGER })
  const joined = groups(whole).map((some) => ({ minSize: some[0]?.minSize, maxSize: some.at(-1)?.maxSize }))
  // Of the torrents in the ends, some are outside of the range.
  return [...joined, ...ends].map((part) => ({ ...criteria, ...part }))
}

function split(values: AnyOf, part: (some: AnyOf) => Criteria): readonly Criteria[] {
  return groups([...new Set(values)]).map(part)
}

/** At most `MAX_GROUPS` groups of neighbours. */
function groups<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const length = Math.ceil(items.length / MAX_GROUPS)
  return Array.from({ length: Math.ceil(items.length / Math.max(1, length)) }, (_, i) =>
    items.slice(i * length, (i + 1) * length),
  )
}
