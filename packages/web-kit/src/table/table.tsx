import type { ReactNode } from 'react'

export type Order = 'asc' | 'desc'

/** A column. `sort` is the name that the server sorts by; columns without one are not sortable. */
export type Column<Row> = {
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  readonly sort?: string
  /** The names of the orders, unless they are least and most first. */
  readonly orders?: readonly [asc: string, desc: string]
  /** For numbers. */
  readonly align?: 'end'
  /** Names the row and takes the remaining space. */
  readonly isMain?: boolean
  /** Left out on narrow screens. */
  readonly isMinor?: boolean
  /** Needs no label on narrow screens. */
  readonly isEvident?: boolean
}

type Sorting = {
  readonly by: string
  readonly order: Order
  readonly link: (sort: string, order: Order, content: ReactNode, label: string) => ReactNode
}

/**
 * A table whose rows become cards on narrow screens. An element with the class `row-link` in the main cell makes the whole
 * row a link. Roles are explicit because changing `display` removes the implicit ones.
 */
export function Table<Row>(props: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorting?: Sorting
  /** Newer rows are loading. */
  isStale?: boolean
}) {
  const { caption, columns, rows, rowKey, sorting, isStale = false } = props
  return (
    <table className="table" role="table" aria-busy={isStale}>
      <caption className="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column, index) => (
            <Head key={index} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map((column, index) => (
              <Cell key={index} column={column} row={row} />
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
