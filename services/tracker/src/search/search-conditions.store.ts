import { type RawBuilder, sql } from 'kysely'
import type { AnyOf, Criteria } from './criteria.ts'

export const SORT_COLUMNS = { created: 'created_at', size: 'size', seeders: 'seeders', leechers: 'leechers' } as const

/**
 * Whether the index contains these beginnings of words as lexemes, made by the database function `word_beginnings`. Few
 * words share longer beginnings.
 */
export function areIndexed(prefixes: AnyOf): boolean {
  return prefixes.every((prefix) => {
    const letters = Array.from(prefix).length
    return letters === 2 || letters === 3
  })
}

/**
 * The criteria except the state, as conditions on the columns of `torrents`.
 *
 * @param by whether torrents are found by the index or row by row, where reading words is cheaper than computing their
 *   beginnings
 */
export function conditions(criteria: Criteria, by: 'index' | 'row'): RawBuilder<unknown> {
  const { categoryIds, words, prefixes, facets, freeleech, minSize, maxSize, createdAfter } = criteria
  const isBeginning = prefixes.length > 0 && by === 'index' && areIndexed(prefixes)
  const isSpelled = prefixes.length > 0 && !isBeginning
  const text = [
    ...words.map(anyOf),
    ...(isSpelled ? [`(${prefixes.map((each) => `${quoted(each)}:*`).join(' | ')})`] : []),
  ]
  const categories = categoryIds?.map((id) => `#c${id}`)
  const parts = [
    ...(text.length === 0 ? [] : [sql`search @@ ${text.join(' & ')}::tsquery`]),
    ...(isBeginning ? [sql`word_beginnings(search) @@ ${anyOf(prefixes)}::tsquery`] : []),
    ...(facets.length === 0 ? [] : [sql`facets @@ ${facets.map(anyOf).join(' & ')}::tsquery`]),
    // A separate condition, since the index is slower at rare conditions that contain common alternatives.
    ...(categories === undefined ? [] : [sql`facets @@ ${anyOf(categories)}::tsquery`]),
    ...identified(criteria),
    ...(freeleech === undefined ? [] : [freeleech ? sql`download_percent = 0` : sql`download_percent > 0`]),
    ...(minSize === undefined ? [] : [sql`size >= ${minSize}`]),
    ...(maxSize === undefined ? [] : [sql`size <= ${maxSize}`]),
    ...(createdAfter === undefined ? [] : [sql`created_at > ${createdAfter}`]),
  ]
  return parts.length === 0 ? sql`true` : sql.join(parts, sql` and `)
}

/** Matches any of the ids or the info hash. */
function identified({ ids, idWithin, infoHash }: Criteria): readonly RawBuilder<unknown>[] {
  const hash = infoHash === undefined ? undefined : Buffer.from(infoHash, 'hex')
  const within = idWithin?.categoryIds.map((id) => `#c${id}`)
  const terms = [
    ...ids.map(quoted),
    ...(idWithin === undefined || within === undefined ? [] : [`(${quoted(idWithin.id)} & ${anyOf(within)})`]),
  ]
  const parts = [
    ...(terms.length === 0 ? [] : [sql`facets @@ ${terms.join(' | ')}::tsquery`]),
    ...(hash === undefined ? [] : [sql`info_hash = ${hash}`, sql`info_hash_v2 = ${hash}`]),
  ]
  return parts.length === 0 ? [] : [sql`(${sql.join(parts, sql` or `)})`]
}

/** A condition on `category_id`; true for all categories. */
export function anyCategory(ids: readonly string[] | undefined): RawBuilder<unknown> {
  return ids === undefined ? sql`true` : sql`category_id = any(${[...ids]}::uuid[])`
}

/** A lexeme that no torrent has. */
const NEVER = "'#'"

/** The part of a tsquery that matches one of these lexemes. */
function anyOf(lexemes: AnyOf): string {
  return lexemes.length === 0 ? NEVER : `(${lexemes.map(quoted).join(' | ')})`
}

/** A quoted lexeme, so that it cannot be an operator. */
function quoted(lexeme: string): string {
  return `'${lexeme.replace(/['\\]/g, '$&$&')}'`
}
