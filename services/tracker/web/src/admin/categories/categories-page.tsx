import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import '../manage.css'
import { CategoryDialog } from './category-dialog.tsx'
import { CategoryTable } from './category-table.tsx'
import { DeleteAll } from './delete-all.tsx'
import { managedCategories } from './queries.ts'
import { SeedButton } from './seed-button.tsx'
import { rowsOf } from './tree.ts'

const route = getRouteApi('/admin/categories')

/** The tree of categories: make, rename, order, nest, delete; and the standard tree where there is none. */
export function CategoriesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(managedCategories)
  const [isDeletingAll, setDeletingAll] = useState(false)
  usePageTitle('Categories')
  if (data === undefined)
    return (
      <>
        <h1>Categories</h1>
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="The categories are loading." />
      </>
    )
  const rows = rowsOf(data.items)
  const edited = rows.find(({ category }) => category.slug === search.edit)
  const close = (): void => void navigate({ search: {}, replace: true })
  return (
    <>
      <header className="manage-head">
        <h1>Categories</h1>
        {rows.length > 0 && (
          <div className="form-actions">
            <Link to="/admin/categories" search={{ new: 'root' }} className="button" data-kind="main">
              New category
            </Link>
            <Button kind="danger" onClick={() => setDeletingAll(true)}>
              Delete all
            </Button>
          </div>
        )}
      </header>
      {data.uncategorised > 0 && (
        <p className="notice" role="status">
          {data.uncategorised === 1 ? '1 torrent has' : `${formatCount(data.uncategorised)} torrents have`} no category,
          because it was deleted with all others. A category that is made with the same slug has them again, as after
          seeding.
        </p>
      )}
      {rows.length === 0 ? (
        <Empty title="There are no categories.">
          <p>Nobody can upload until there is one. The standard tree has the ids that automation tools search.</p>
          <div className="form-actions">
            <SeedButton />
            <Link to="/admin/categories" search={{ new: 'root' }} className="button">
              New category
            </Link>
          </div>
        </Empty>
      ) : (
        <CategoryTable tree={data.items} />
      )}
      {(edited !== undefined || search.new !== undefined) && (
        <CategoryDialog
          key={edited?.category.id ?? 'new'}
          row={edited}
          roots={data.items}
          parent={search.new}
          onClose={close}
        />
      )}
      {isDeletingAll && <DeleteAll rows={rows} onClose={() => setDeletingAll(false)} />}
    </>
  )
}
