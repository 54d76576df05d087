import { coveredCategories } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../categories/categories.ts'

/** The default types of UNIT3D. A source is of the first type that has it. */
const TYPES = [
  { id: 2, name: 'Remux', sources: ['Remux'] },
  { id: 3, name: 'Encode', sources: ['BluRay', 'DVD', 'HDRip', 'SCR', 'CAM', 'TS', 'TC'] },
  { id: 4, name: 'WEB-DL', sources: ['WEB-DL', 'WEB'] },
  { id: 5, name: 'WEBRip', sources: ['WEBRip'] },
  { id: 6, name: 'HDTV', sources: ['HDTV'] },
  { id: 1, name: 'Full Disc', sources: ['BluRay disc', 'DVD'] },
] as const satisfies readonly { id: number; name: string; sources: readonly string[] }[]

/** The default resolutions of UNIT3D; tools send 3 for 1440p too. */
const RESOLUTIONS: ReadonlyMap<string, number> = new Map([
  ['4320p', 1],
  ['2160p', 2],
  ['1080p', 3],
  ['1440p', 3],
  ['1080i', 4],
  ['720p', 5],
  ['576p', 6],
  ['576i', 7],
  ['480p', 8],
  ['480i', 9],
])

/** The default categories of UNIT3D by Torznab ID: films, series, music, games and applications. */
const FAMILIES: Readonly<Record<number, number>> = { 1: 2000, 2: 5000, 3: 3000, 4: 4050, 5: 4000 }

/** The Torznab ID that a category number of a tool means. */
function torznabIdOf(number: number): number {
  return FAMILIES[number] ?? number
}

/** The category of a number; roots come first, because the name of a release chooses the subcategory. */
export function categoryOf(number: number, all: readonly Category[]): Category | undefined {
  const found = all.filter(({ torznabId }) => torznabId === torznabIdOf(number))
  return found.find(({ parentId }) => parentId === null) ?? found[0]
}

/** The categories that any of the numbers covers. */
export function categoriesOf(numbers: readonly number[], all: readonly Category[]): readonly Category[] {
  return coveredCategories(numbers.map(torznabIdOf), all)
}

/** The type of a source; undefined if UNIT3D has none. */
export function typeOf(source: string | null): { readonly id: number; readonly name: string } | undefined {
  return TYPES.find(({ sources }) => sources.some((each) => each === source))
}

export function resolutionIdOf(resolution: string | null): number | undefined {
  return resolution === null ? undefined : RESOLUTIONS.get(resolution)
}

/** The sources of types; undefined, which is no condition, if none is known. */
export function sourcesOf(types: readonly number[]): readonly string[] | undefined {
  return orAny(TYPES.filter(({ id }) => types.includes(id)).flatMap(({ sources }) => [...sources]))
}

/** The resolutions with one of these numbers; undefined, which is no condition, if none is known. */
export function resolutionsOf(ids: readonly number[]): readonly string[] | undefined {
  return orAny([...RESOLUTIONS].filter(([, id]) => ids.includes(id)).map(([resolution]) => resolution))
}

function orAny(values: readonly string[]): readonly string[] | undefined {
  return values.length === 0 ? undefined : [...new Set(values)]
}
