import { stringify } from 'csv-stringify/sync'
import { FileAnswer } from './endpoint.ts'

export const EXPORT_FORMATS = ['csv', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The media types of an export. */
export const EXPORT_TYPES = ['text/csv', 'application/json'] as const

/** An export has at most this many rows, which are read at once. */
export const MAX_EXPORTED = 10_000

type Cell = Date | string | number | boolean | null | undefined | object

/**
 * Returns rows as a file to download: JSON as an array, or CSV (RFC 4180) with a line of column names. In CSV, objects are
 * JSON, times ISO 8601, and text that a spreadsheet would run as a formula starts with an apostrophe.
 *
 * @param name of the file, without its extension
 */
export function exportFile<Row extends Readonly<Record<string, Cell>>>(
  { name, format, columns }: { name: string; format: ExportFormat; columns: readonly (keyof Row & string)[] },
  rows: readonly Row[],
): FileAnswer {
  const text =
    format === 'json'
      ? JSON.stringify(rows)
      : stringify([...rows], {
          header: true,
          columns: [...columns],
          record_delimiter: '\r\n',
          escape_formulas: true,
          cast: { date: (value) => value.toISOString(), boolean: String },
        })
  return new FileAnswer(Buffer.from(text), {
    'Content-Type': format === 'json' ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.${format}"`,
  })
}
