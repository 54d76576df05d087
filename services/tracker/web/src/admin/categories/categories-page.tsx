import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import '../manage.css'
import { CategoryDialog } from './category-dialog.tsx'
import { CategoryTable } from './category-table.tsx'
import { DeleteAll } from './delete-all.tsx'
import { managedCategories } from './queries.ts'
import { SeedButton } from './seed-button.tsx'
import { rowsOf } from './tree.ts'

const route = getRouteApi('/admin/categories')

export function CategoriesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(managedCategories)
  const [isDeletingAll, setDeletingAll] = useState(false)
  if (data === undefined)
    return (
      <>
        <PageHead title="Categories" />
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="Loading categories…" />
      </>
    )
  const rows = rowsOf(data.items)
  const edited = rows.find(({ category }) => category.slug === search.edit)
  const close = (): void => void navigate({ search: {}, replace: true })
  return (
    <>
      <PageHead title="Categories">
        {rows.length > 0 && (
          <div className="form-actions">
            <Link to="/admin/categories" search={{ new: 'root' }} className="button" data-kind="main">
              Create category
            </Link>
            <Button kind="danger" onClick={() => setDeletingAll(true)}>
              Delete all categories
            </Button>
          </div>
        )}
      </PageHead>
      {data.uncategorised > 0 && (
        <p className="notice" role="status">
          {formatNumberOf(data.uncategorised, 'torrent has', 'torrents have')} no category because all categories were
          deleted. To restore them, create categories with the same slugs.
        </p>
      )}
      {rows.length === 0 ? (
        <Empty title="No categories yet.">
          <p>
            Members cannot upload without categories. The standard categories have the IDs that automation tools use.
          </p>
          <div className="form-actions">
            <SeedButton />
            <Link to="/admin/categories" search={{ new: 'root' }} className="button">
              Create category
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
