import { useNavigate } from '@tanstack/react-router'
import { CategoryOptions } from '../api/category-options.tsx'
import type { ListSearch, Order, Sort } from './list-search.ts'

const ORDERS: readonly (readonly [value: `${Sort} ${Order}`, label: string])[] = [
  ['created desc', 'Newest first'],
  ['created asc', 'Oldest first'],
  ['seeders desc', 'Most seeders'],
  ['leechers desc', 'Most leechers'],
  ['size desc', 'Largest first'],
  ['size asc', 'Smallest first'],
]

/** Filters and, on narrow screens, which have no table head, the order. */
export function ListFilters({ search }: { search: ListSearch }) {
  const navigate = useNavigate()
  const go = (change: ListSearch): void => {
    void navigate({ to: '/torrents', search: { ...search, ...change, page: undefined } })
  }
  return (
    <div className="filters">
      <select
        className="input"
        aria-label="Category"
        value={search.category ?? ''}
        onChange={({ target }) => go({ category: target.value || undefined })}
      >
        <option value="">All categories</option>
        <CategoryOptions />
      </select>
      <select
        className="input only-narrow"
        aria-label="Order"
        value={`${search.sort ?? 'created'} ${search.order ?? 'desc'}`}
        onChange={({ target }) => {
          const [sort, order] = target.value.split(' ') as [Sort, Order]
          go({ sort: sort === 'created' ? undefined : sort, order: order === 'desc' ? undefined : order })
        }}
      >
        {ORDERS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  )
}
