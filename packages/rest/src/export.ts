import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { endInPages } from '@vault-and-tracker/service-kit/http/unread-answers'
import { stringify } from 'csv-stringify/sync'
import { StreamAnswer } from './endpoint.ts'

export const EXPORT_FORMATS = ['csv', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The media types of an export. */
export const EXPORT_TYPES = ['text/csv', 'application/json'] as const

/** Maximum number of rows of an export. */
const MAX_EXPORTED = 10_000
/** Rows in memory at a time. */
const PAGE = 250

/** Exports read one page at a time, all together, so that many of them leave time for other requests. */
const inTurn = createTurns(1)

type Cell = Date | string | number | boolean | null | undefined | object
type Row = Readonly<Record<string, Cell>>
type ReadPage<Exported> = (after: Exported | undefined, limit: number) => Promise<readonly Exported[]>

/**
 * Streams rows as a file to download: JSON as an array, or CSV (RFC 4180) with a line of column names. In CSV, objects are
 * JSON, times ISO 8601, and text that a spreadsheet would run as a formula starts with an apostrophe.
 *
 * @param file `name` is without its extension
 * @param read reads the rows after one, or the first rows. Each part is read when the client has taken the one before
 * @returns once the first rows are read @throws the error of reading them; a later one ends the connection
 */
export async function exportFile<Exported extends Row>(
  file: {
    readonly name: string
    readonly format: ExportFormat
    readonly columns: readonly (keyof Exported & string)[]
  },
  read: ReadPage<Exported>,
): Promise<StreamAnswer> {
  const readInTurn: ReadPage<Exported> = (after, limit) => inTurn(() => read(after, limit))
  const first = await readInTurn(undefined, PAGE)
  const { name, format } = file
  const headers = {
    'Content-Type': format === 'json' ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.${format}"`,
  }
  const written = format === 'json' ? asJson(pages(first, readInTurn)) : asCsv(pages(first, readInTurn), file.columns)
  return new StreamAnswer(headers, (response) => endInPages(response, written))
}

async function* pages<Exported>(
  first: readonly Exported[],
  read: ReadPage<Exported>,
): AsyncGenerator<readonly Exported[]> {
  let page = first
  for (let count = page.length; page.length > 0; count += page.length) {
    yield page
    if (page.length < PAGE || count >= MAX_EXPORTED) return
    page = await read(page.at(-1), Math.min(PAGE, MAX_EXPORTED - count))
  }
}

async function* asJson(parts: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  let before = '['
  for await (const rows of parts) {
    yield before + JSON.stringify(rows).slice(1, -1)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

async function* asCsv(parts: AsyncIterable<readonly Row[]>, columns: readonly string[]): AsyncGenerator<string> {
  const write = (rows: readonly Row[], header: boolean): string =>
    stringify([...rows], {
      header,
      columns: [...columns],
      record_delimiter: '\r\n',
      escape_formulas: true,
      cast: { date: (value) => value.toISOString(), boolean: String },
    })
  yield write([], true)
  for await (const rows of parts) yield write(rows, false)
}
