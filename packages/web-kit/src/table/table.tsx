import type { ReactNode } from 'react'

export type Order = 'asc' | 'desc'

/** A column. `sort` is the name that the server sorts by; columns without one are not sortable. */
export type Column<Row> = {
  readonly key: string
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  readonly sort?: string
  /** What the orders are called, ascending and descending, where least and most would mislead. */
  readonly orders?: readonly [asc: string, desc: string]
  /** Numbers stand at the end of their cell. */
  readonly align?: 'end'
  /** The column that names the row; it takes the room that is left. */
  readonly isMain?: boolean
  /** Where there is little room, left out of the card. */
  readonly isMinor?: boolean
  /** What the value is can be seen, so the card needs no label for it. */
  readonly isEvident?: boolean
}

type Sorting = {
  readonly by: string
  readonly order: Order
  /** A link to the same list in another order. */
  readonly link: (sort: string, order: Order, content: ReactNode, label: string) => ReactNode
}

/**
 * A table whose rows are links: the main cell of a row has an element of the class `row-link`, which covers the row. On
 * a narrow screen each row is a card. Roles are written out, since a changed `display` takes them away.
 */
export function Table<Row>(props: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorting?: Sorting
  /** Newer rows are on their way. */
  isStale?: boolean
}) {
  const { caption, columns, rows, rowKey, sorting, isStale = false } = props
  return (
    <table className="table" role="table" aria-busy={isStale}>
      <caption className="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Head key={column.key} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map((column) => (
              <Cell key={column.key} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Head<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { head, sort, align, orders = ['least first', 'most first'] } = column
  if (sorting === undefined || sort === undefined)
    return (
      <th role="columnheader" scope="col" data-align={align} data-main={column.isMain}>
        {head}
      </th>
    )
  const isSorted = sorting.by === sort
  const next = isSorted && sorting.order === 'desc' ? 'asc' : 'desc'
  const direction = sorting.order === 'asc' ? 'ascending' : 'descending'
  const sign = (
    <span aria-hidden="true" className="sort-sign">
      {isSorted ? (sorting.order === 'asc' ? '▲' : '▼') : ''}
    </span>
  )
  const content = (
    <>
      {align === 'end' && sign}
      {head}
      {align !== 'end' && sign}
    </>
  )
  return (
    <th role="columnheader" scope="col" data-align={align} aria-sort={isSorted ? direction : undefined}>
      {sorting.link(sort, next, content, `Sort by ${head.toLowerCase()}, ${orders[next === 'asc' ? 0 : 1]}`)}
    </th>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const { align, head, isMain, isMinor, isEvident = false } = column
  if (isMain)
    return (
      <th role="rowheader" scope="row" data-main="true">
        {column.cell(row)}
      </th>
    )
  return (
    <td role="cell" data-align={align} data-label={isEvident ? undefined : head} data-minor={isMinor}>
      {column.cell(row)}
    </td>
  )
}
