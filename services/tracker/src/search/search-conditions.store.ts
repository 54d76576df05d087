import { type RawBuilder, sql } from 'kysely'
import {
  type AliveCriterion,
  type AnyOf,
  type CreatedAfter,
  type Criteria,
  type OwnCriterion,
  type ReleaseField,
  sizeTerms,
} from './criteria.ts'

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

/** Whether the index narrows down the matches, except by category, size and time. */
function isIndexed({ words, prefixes, facets, release, ids, idWithin, infoHash, ...others }: Criteria): boolean {
  const { uploader, marks } = others
  const single = [...Object.values(release), ...Object.values(marks), idWithin, infoHash, uploader]
  return single.some((part) => part !== undefined) || words.length + prefixes.length + facets.length + ids.length > 0
}

/**
 * The criteria except the state and what a member did, as conditions on the columns of `torrents`. Only unseen torrents
 * are a condition: Postgres reads the member's rows once, then looks up each torrent in them.
 *
 * @param by whether torrents are found by the index or row by row, where reading columns is cheaper than computing what
 *   is in the index
 */
export function conditions(criteria: Criteria, by: 'index' | 'row'): RawBuilder<unknown> {
  return allOf([indexed(criteria, by), ...checks(criteria)])
}

/** The conditions that no index contains. Each costs a look at the row or in another table. */
export function checks(criteria: Criteria): readonly RawBuilder<unknown>[] {
  const { alive, own } = criteria
  const without = areUnwantedChecked(criteria) ? unwanted(criteria) : []
  return [
    ...(without.length === 0 ? [] : [sql`(search @@ ${without.join(' & ')}::tsquery) is true`]),
    ...(alive === undefined ? [] : [aliveById(alive)]),
    ...(own?.state === 'unseen'
      ? [sql`(id not in (${ownRows(own)}) and uploader_id is distinct from ${own.userId})`]
      : []),
  ]
}

/** The other conditions. */
export function indexed(criteria: Criteria, by: 'index' | 'row'): RawBuilder<unknown> {
  const { prefixes, facets, categoryIds } = criteria
  const isBeginning = prefixes.length > 0 && by === 'index' && areIndexed(prefixes)
  const categories = categoryIds?.map((id) => `#c${id}`)
  const parts = [
    ...named(criteria, isBeginning ? [] : prefixes),
    ...(isBeginning ? [sql`word_beginnings(search) @@ ${anyOf(prefixes)}::tsquery`] : []),
    ...(facets.length === 0 ? [] : [sql`facets @@ ${facets.map(anyOf).join(' & ')}::tsquery`]),
    // A separate condition, since the index is slower at rare conditions that contain common alternatives.
    ...(categories === undefined ? [] : [sql`facets @@ ${anyOf(categories)}::tsquery`]),
    ...identified(criteria),
    ...(by === 'index' ? released(criteria) : releasedByRow(criteria)),
  ]
  return allOf(parts)
}

/** A conjunction; true for no conditions. */
export function allOf(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join([sql`true`, ...parts], sql` and `)
}

/** A condition on the torrent with this `id`; true for undefined. */
export function aliveById(alive: AliveCriterion | undefined): RawBuilder<unknown> {
  if (alive === undefined) return sql`true`
  const isAlive = sql`(select true from torrent_stats where torrent_id = id and seeders > 0)`
  return alive.hasSeeder ? sql`${isAlive} is true` : sql`${isAlive} is null`
}

/** A condition that the index answers: the torrent was created in a year in UTC. */
export function inYear(year: number): RawBuilder<unknown> {
  return sql`${RELEASE_FACETS} @@ ${`'#k${year}'`}::tsquery`
}

/** A condition on `seeders`. */
export function seedersOf({ hasSeeder }: AliveCriterion): RawBuilder<unknown> {
  return hasSeeder ? sql`seeders > 0` : sql`seeders = 0`
}

/** Conditions on the words of the name. */
function named(criteria: Criteria, prefixes: AnyOf): readonly RawBuilder<unknown>[] {
  const text = [
    ...criteria.words.map(anyOf),
    ...(prefixes.length === 0 ? [] : [`(${prefixes.map((each) => `${quoted(each)}:*`).join(' | ')})`]),
  ]
  const without = areUnwantedChecked(criteria) ? [] : unwanted(criteria)
  return text.length === 0 ? [] : [sql`search @@ ${[...text, ...without].join(' & ')}::tsquery`]
}

/** Whether the index has no wanted words to start from. It would read everything to find what has no unwanted ones. */
function areUnwantedChecked({ words, prefixes }: Criteria): boolean {
  return words.length === 0 && areIndexed(prefixes)
}

/** The parts of a tsquery that exclude words. */
function unwanted({ without }: Criteria): readonly string[] {
  return without.map((all) => `!(${all.map(quoted).join(' & ')})`)
}

const COLUMNS = {
  resolution: { lexeme: '#r', column: 'resolution', isList: false },
  source: { lexeme: '#o', column: 'source', isList: false },
  codec: { lexeme: '#v', column: 'codec', isList: false },
  hdr: { lexeme: '#h', column: 'hdr', isList: true },
  audio: { lexeme: '#a', column: 'audio', isList: true },
  language: { lexeme: '#l', column: 'languages', isList: true },
} as const satisfies Record<ReleaseField, object>

const MARKS = [
  { mark: 'freeleech', column: sql`(download_percent = 0)`, lexemes: ['#free', '#paid'] },
  { mark: 'internal', column: sql`internal`, lexemes: ['#internal', '#external'] },
  { mark: 'scene', column: sql`scene`, lexemes: ['#scene', '#unscene'] },
] as const

/** Expressions of the index; see the migrations `filters` and `marks`. */
const RELEASE_FACETS = sql`release_facets(resolution, source, codec, hdr, audio, languages, download_percent,
  uploader_id, size, created_at)`
const MARK_FACETS = sql`mark_facets(download_percent, internal, scene)`

/** Conditions on the release, the uploader, marks, size and time, as far as the index contains them. */
function released(criteria: Criteria): readonly RawBuilder<unknown>[] {
  const { release, uploader, marks, minSize, maxSize, created } = criteria
  const fields = releaseFields(release).map(({ lexeme, values }) => anyOf(values.map((value) => `${lexeme}${value}`)))
  const exact = [...fields, ...(uploader === undefined ? [] : [quoted(`#u${uploader.id}`)])]
  const marked = MARKS.flatMap(({ mark, lexemes: [yes, no] }) =>
    marks[mark] === undefined ? [] : [quoted(marks[mark] ? yes : no)],
  )
  const hasSize = minSize !== undefined || maxSize !== undefined
  const isSingleRange = singleRangeOf(criteria) !== undefined
  const ranges = isSingleRange
    ? []
    : [
        ...(hasSize ? [sizeTerms({ minSize: minSize ?? 0, maxSize: maxSize ?? Number.MAX_SAFE_INTEGER })] : []),
        ...(created === undefined ? [] : timeLexemes(created)),
      ]
  return [
    ...(exact.length === 0 ? [] : [sql`${RELEASE_FACETS} @@ ${exact.join(' & ')}::tsquery`]),
    ...(marked.length === 0 ? [] : [sql`${MARK_FACETS} @@ ${marked.join(' & ')}::tsquery`]),
    ...ranges.map((range) => sql`${RELEASE_FACETS} @@ ${anyOf(range)}::tsquery`),
    ...shown(uploader),
    ...rangesOf(criteria, isSingleRange),
  ]
}

/** The column of the only range, which has an index of its own, if that is all that an index answers. */
export function singleRangeOf(criteria: Criteria): 'size' | 'created' | undefined {
  const { minSize, maxSize, created, categoryIds } = criteria
  const hasSize = minSize !== undefined || maxSize !== undefined
  if (isIndexed(criteria) || categoryIds !== undefined || hasSize === (created !== undefined)) return undefined
  return hasSize ? 'size' : 'created'
}

/** The same conditions on columns. */
function releasedByRow(criteria: Criteria): readonly RawBuilder<unknown>[] {
  const { release, uploader, marks } = criteria
  return [
    ...releaseFields(release).map(({ column, isList, values }) =>
      isList
        ? sql`${sql.ref(column)} && ${[...values]}::text[]`
        : sql`${sql.ref(column)} = any(${[...values]}::text[])`,
    ),
    ...(uploader === undefined ? [] : [sql`uploader_id = ${uploader.id}`]),
    ...shown(uploader),
    ...MARKS.flatMap(({ mark, column }) =>
      marks[mark] === undefined ? [] : [marks[mark] ? column : sql`not ${column}`],
    ),
    ...rangesOf(criteria, true),
  ]
}

/** Leaves out anonymous torrents, whose uploader is hidden. */
function shown(uploader: Criteria['uploader']): readonly RawBuilder<unknown>[] {
  return uploader === undefined || uploader.withAnonymous ? [] : [sql`not anonymous`]
}

function releaseFields(release: Criteria['release']) {
  return RELEASE_FIELDS.flatMap((field) => {
    const values = release[field]
    return values === undefined ? [] : [{ ...COLUMNS[field], values }]
  })
}

const RELEASE_FIELDS = ['resolution', 'source', 'codec', 'hdr', 'audio', 'language'] as const

/**
 * Conditions on size and time.
 *
 * @param isIndexed whether the planner may use the indexes of these columns
 */
export function rangesOf({ minSize, maxSize, created }: Ranges, isIndexed: boolean): readonly RawBuilder<unknown>[] {
  const size = isIndexed ? sql`size` : sql`size + 0`
  const createdAt = isIndexed ? sql`created_at` : sql`created_at + interval '0'`
  return [
    ...(minSize === undefined ? [] : [sql`${size} >= ${minSize}`]),
    ...(maxSize === undefined ? [] : [sql`${size} <= ${maxSize}`]),
    ...(created === undefined ? [] : [sql`${createdAt} > ${created.after}`]),
    ...(created?.until === undefined ? [] : [sql`${createdAt} <= ${created.until}`]),
  ]
}

type Ranges = Partial<Pick<Criteria, 'minSize' | 'maxSize' | 'created'>>

const MAX_YEARS = 15

/** The months of the first year and all years after it; nothing for many years, which contain nearly everything. */
function timeLexemes({ after, now }: CreatedAfter): readonly AnyOf[] {
  const year = after.getUTCFullYear()
  // Clocks of other processes may be ahead.
  const years = now.getUTCFullYear() + 1 - year
  if (years > MAX_YEARS) return []
  const months = Array.from({ length: 12 - after.getUTCMonth() }, (_, i) => year * 100 + after.getUTCMonth() + 1 + i)
  return [[...months, ...Array.from({ length: Math.max(0, years) }, (_, i) => year + 1 + i)].map((each) => `#k${each}`)]
}

/** The ids of the torrents with which a member did something. */
export function ownRows({ userId, state, activeSince }: OwnCriterion): RawBuilder<unknown> {
  if (state === 'bookmarked') return sql`select torrent_id from bookmarks where user_id = ${userId}`
  const did = {
    snatched: sql`and completed_at is not null`,
    seeding: sql`and last_state = 'seeder' and last_seen_at > ${activeSince}`,
    unseen: sql``,
  }[state]
  return sql`select torrent_id from user_torrents where user_id = ${userId} ${did}`
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
