import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type ManagedCategory } from '../../api/client.ts'
import { DeleteCategory } from './delete-category.tsx'
import { reloadCategories } from './queries.ts'
import { moved, rowsOf, type TreeRow } from './tree.ts'

type Props = { tree: readonly (ManagedCategory & { readonly subcategories: readonly ManagedCategory[] })[] }

/** Moves a category among its siblings. `button` is the pressed one. */
type MoveRow = (row: TreeRow, by: -1 | 1, button: HTMLElement) => void

/** The tree in reading order. A new order is saved in one request. */
export function CategoryTable({ tree }: Props) {
  const queries = useQueryClient()
  const [order, setOrder] = useState<readonly string[]>()
  const [said, setSaid] = useState('')
  const [removed, setRemoved] = useState<TreeRow>()
  const save = useMutation<unknown, ApiError, readonly string[]>({
    mutationFn: (ids) => read(api.POST('/api/admin/categories/order', { body: { ids: [...ids] } })),
    onSuccess: () => {
      toast('Order saved.')
    },
    onError: toastProblem,
    onSettled: async () => {
      await reloadCategories(queries)
      setOrder(undefined)
    },
  })
  const rows = rowsOf(tree, order)
  const move: MoveRow = (row, by, button) => {
    const next = moved(rows, row, by)
    if (next === undefined) return
    setOrder(next)
    const index = row.siblings.indexOf(row.category.id) + by
    setSaid(`${row.category.name} is now ${index + 1} of ${row.siblings.length}.`)
    // Moving the row in the document takes the focus from its button.
    requestAnimationFrame(() => button.focus())
  }
  return (
    <div className="category-table">
      <div className="order-bar" data-changed={order !== undefined}>
        <p role="status" className={order === undefined ? 'visually-hidden' : undefined}>
          {said}
        </p>
        {order !== undefined && (
          <div className="form-actions">
            <Button kind="main" isBusy={save.isPending} onClick={() => save.mutate(order)}>
              Save order
            </Button>
            <Button
              onClick={() => {
                setOrder(undefined)
                setSaid('')
              }}
            >
              Discard order
            </Button>
          </div>
        )}
      </div>
      <Table
        caption="Categories"
        columns={columnsOf(move, setRemoved)}
        rows={rows}
        rowKey={({ category }) => category.id}
      />
      {removed && <DeleteCategory row={removed} onClose={() => setRemoved(undefined)} />}
    </div>
  )
}

function columnsOf(move: MoveRow, remove: (row: TreeRow) => void): readonly Column<TreeRow>[] {
  return [
    {
      head: 'Name',
      isMain: true,
      cell: ({ category, parent }) => (
        <Link
          to="/admin/categories"
          search={{ edit: category.slug }}
          className="row-link"
          preload={false}
          data-level={parent === undefined ? 0 : 1}
        >
          {parent !== undefined && (
            <span className="visually-hidden">
              <bdi>{parent.name}</bdi>:{' '}
            </span>
          )}
          <bdi>{category.name}</bdi>
        </Link>
      ),
    },
    { head: 'Slug', isEvident: true, cell: ({ category }) => <code>{category.slug}</code> },
    { head: 'Torznab ID', align: 'end', cell: ({ category }) => category.torznabId },
    { head: 'Torrents', align: 'end', cell: ({ category }) => formatCount(category.torrents) },
    {
      head: 'Actions',
      isEvident: true,
      cell: (row) => (
        <span className="row-actions">
          <Move row={row} by={-1} move={move} />
          <Move row={row} by={1} move={move} />
          <Button className="small quiet" onClick={() => remove(row)} aria-label={`Delete ${row.category.name}`}>
            Delete
          </Button>
        </span>
      ),
    },
  ]
}

function Move({ row, by, move }: { row: TreeRow; by: -1 | 1; move: MoveRow }) {
  const { siblings, category } = row
  const isEnd = siblings.indexOf(category.id) === (by === -1 ? 0 : siblings.length - 1)
  return (
    <Button
      className="small quiet"
      aria-disabled={isEnd || undefined}
      aria-label={`Move ${category.name} ${by === -1 ? 'up' : 'down'}`}
      onClick={({ currentTarget }) => move(row, by, currentTarget)}
    >
      <span aria-hidden="true">{by === -1 ? '↑' : '↓'}</span>
    </Button>
  )
}
