/** The filters whose values are counted. */
export const FACETS = ['category', 'resolution', 'source', 'codec', 'hdr', 'audio', 'language', 'year'] as const
export type Facet = (typeof FACETS)[number]

/** How many torrents have a value: a slug, or a value of the release. */
export type FacetCount = { readonly value: string; readonly count: number }

/** A counted value; categories by id. */
export type CountedValue = FacetCount & { readonly facet: Facet }

/** Values by facet, most frequent first. @param slugs the slugs of categories by id */
export function facetsOf(
  values: readonly CountedValue[],
  slugs: ReadonlyMap<string, string>,
): Record<Facet, FacetCount[]> {
  const countsOf = (facet: Facet): FacetCount[] =>
    values
      .filter((each) => each.facet === facet)
      .flatMap(({ value, count }) => {
        const shown = facet === 'category' ? slugs.get(value) : value
        return shown === undefined ? [] : [{ value: shown, count }]
      })
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  return {
    category: countsOf('category'),
    resolution: countsOf('resolution'),
    source: countsOf('source'),
    codec: countsOf('codec'),
    hdr: countsOf('hdr'),
    audio: countsOf('audio'),
    language: countsOf('language'),
    year: countsOf('year'),
  }
}
