/** Maximum id of a film or series, which are 32-bit integers in all catalogues and in Postgres. */
export const MAX_EXTERNAL_ID = 2_147_483_647

/** Parses a whole number from 0, capped at 2^53 - 1; undefined for anything else, such as `-1` or `1e3`. */
export function parseWhole(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined
}

/** Parses whole numbers from 0, separated by commas, without blanks and duplicates. */
export function parseNumbers(text: string): readonly number[] | undefined {
  const numbers = listOf(text).map(parseWhole)
  return numbers.includes(undefined) ? undefined : [...new Set(numbers.filter((number) => number !== undefined))]
}

/** Parses a positive id of another catalogue, such as TheTVDB. */
export function parseId(text: string): number | undefined {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return id !== undefined && id <= MAX_EXTERNAL_ID ? id : undefined
}

/** An IMDb id: Sonarr and FlexGet send `tt0944947`, Radarr and Prowlarr `0944947`. */
export function parseImdbId(text: string): number | undefined {
  return parseId(text.replace(/^tt/i, ''))
}

/** A year of four digits. */
export function parseYear(text: string): number | undefined {
  return /^\d{4}$/.test(text) ? Number(text) : undefined
}

/** Required and excluded tags in lower case (Torznab 1.3, "'tag' parameter"). */
export type TagFilter = { readonly include: readonly string[]; readonly exclude: readonly string[] }

/** Parses tags such as `freeleech,-remake`, where a hyphen excludes. */
export function parseTags(text: string): TagFilter | undefined {
  const tags = listOf(text.toLowerCase())
  if (tags.some((tag) => tag === '-')) return undefined
  return {
    include: tags.filter((tag) => !tag.startsWith('-')),
    exclude: tags.filter((tag) => tag.startsWith('-')).map((tag) => tag.slice(1)),
  }
}

/** The `extended` parameter: `1` or `0`, or the words (Torznab 1.3, "'attrs' and 'extended' parameters"). */
export function parseFlag(text: string): boolean | undefined {
  if (/^(?:1|true|yes)$/i.test(text)) return true
  return /^(?:0|false|no)$/i.test(text) ? false : undefined
}

/** The `attrs` parameter: names of extended attributes, lower case. */
export function parseNames(text: string): readonly string[] | undefined {
  const names = listOf(text.toLowerCase())
  return names.every((name) => /^[a-z0-9_-]+$/.test(name)) ? names : undefined
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
