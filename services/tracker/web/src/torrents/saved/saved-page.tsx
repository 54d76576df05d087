import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, lazyDialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type CountedSavedSearch } from '../../api/client.ts'
import { categories, flatten } from '../../api/queries.ts'
import { chipsOf } from '../list-chips.tsx'
import { addressOf, filtersIn, type ListSearch } from '../list-search.ts'
import { feedTokens, savedSearches } from './queries.ts'

const SaveDialog = lazyDialog(async () => (await import('./save-dialog.tsx')).SaveDialog)
const FeedsDialog = lazyDialog(async () => (await import('./feeds-dialog.tsx')).FeedsDialog)

/** A row: a saved search, a category with feed addresses, or the bookmarks. */
type Row = {
  readonly name: string
  readonly search: ListSearch
  readonly saved?: CountedSavedSearch
  readonly category?: string
}

const BOOKMARKS: Row = { name: 'Bookmarks', search: { mine: 'bookmarked' } }

/** The member's bookmarks and saved searches. */
export function SavedPage() {
  const { data, error, refetch } = useQuery(savedSearches)
  const { data: tree = [] } = useQuery(categories)
  const { data: feeds = [] } = useQuery(feedTokens)
  const paths = new Map(flatten(tree).map(({ slug, path }) => [slug, path]))
  const withFeeds = [...new Set(feeds.flatMap(({ category }) => category ?? []))].map(
    (category): Row => ({ name: paths.get(category) ?? category, search: { category }, category }),
  )
  const columns: readonly Column<Row>[] = [
    {
      head: 'Name',
      isMain: true,
      cell: ({ name, search }) => (
        <Link to="/torrents" search={search} className="row-link" preload={false} dir="auto">
          {name}
        </Link>
      ),
    },
    {
      head: 'Filters',
      isEvident: true,
      cell: ({ search, saved, category }) => (
        <span className="muted" dir="auto">
          {saved === undefined && category === undefined ? 'Torrents that you bookmarked' : filterText(search, paths)}
        </span>
      ),
    },
    { head: 'New', align: 'end', cell: ({ saved }) => saved && newText(saved) },
    { head: 'Notices', cell: ({ saved }) => saved && (saved.notify ? 'On' : 'Off') },
    { head: 'Actions', isEvident: true, cell: (row) => <Actions row={row} /> },
  ]
  return (
    <div className="stack">
      <PageHead title="Saved searches" />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading saved searches…" />
      ) : (
        <>
          <Table
            caption="Saved searches"
            columns={columns}
            rows={[
              ...[BOOKMARKS, ...withFeeds],
              ...data.map((saved): Row => ({ name: saved.name, search: addressOf(saved), saved })),
            ]}
            rowKey={({ saved, category = '' }) => saved?.id ?? category}
          />
          {data.length === 0 && (
            <p className="prose">
              To save a search, choose “Save search” in the <Link to="/torrents">list of torrents</Link>.
            </p>
          )}
        </>
      )}
    </div>
  )
}

function filterText(search: ListSearch, paths: ReadonlyMap<string, string>): string {
  const words = search.search === undefined ? [] : [`“${search.search}”`]
  return [...words, ...chipsOf(filtersIn(search), paths).map(({ text }) => text)].join(', ') || 'All torrents'
}

function newText({ recent }: CountedSavedSearch): string {
  if (recent === null) return 'Not counted'
  return recent.count === 0 && recent.isExact ? '0' : `${formatCount(recent.count)}${recent.isExact ? '' : '+'}`
}

function Actions({ row: { name, saved, category } }: { row: Row }) {
  const [open, setOpen] = useState<'feeds' | 'edit' | 'delete'>()
  const close = (): void => setOpen(undefined)
  return (
    <span className="row-actions-cell">
      <Button className="small row-action" onClick={() => setOpen('feeds')} aria-label={`Feeds of ${name}`}>
        Feeds
      </Button>
      {saved && (
        <>
          <Button className="small row-action" onClick={() => setOpen('edit')} aria-label={`Edit ${name}`}>
            Edit
          </Button>
          <Button className="small row-action" onClick={() => setOpen('delete')} aria-label={`Delete ${name}`}>
            Delete
          </Button>
        </>
      )}
      {open === 'feeds' && (
        <FeedsDialog
          list={{ savedSearch: saved?.id ?? null, category: category ?? null }}
          name={name}
          onClose={close}
        />
      )}
      {open === 'edit' && saved && <SaveDialog saved={saved} onClose={close} />}
      {open === 'delete' && saved && <Delete saved={saved} onClose={close} />}
    </span>
  )
}

function Delete({ saved: { id, name }, onClose }: { saved: CountedSavedSearch; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/saved-searches/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      toast('Saved search deleted.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['saved'] })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Delete saved search ${name}?`}
      action="Delete saved search"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>Its feeds stop working. This cannot be undone.</p>
    </Confirm>
  )
}
