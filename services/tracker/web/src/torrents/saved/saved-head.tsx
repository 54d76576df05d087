import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { lazyDialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useEffect, useState } from 'react'
import { api, type CategoryTree, type SavedSearch } from '../../api/client.ts'
import { categories, flatten } from '../../api/queries.ts'
import { addressOf, type ListSearch, textOf } from '../list-search.ts'
import type { FeedList } from './feeds-dialog.tsx'
import { savedSearches } from './queries.ts'

const SaveDialog = lazyDialog(async () => (await import('./save-dialog.tsx')).SaveDialog)
const FeedsDialog = lazyDialog(async () => (await import('./feeds-dialog.tsx')).FeedsDialog)

/** The heading of the list: the name of the saved search or category that it shows, if any. */
export function SavedHead({ search }: { search: ListSearch }) {
  const saved = useSaved(search)
  useVisit(saved?.id)
  const [isOpen, setOpen] = useState(false)
  const { data: tree = [] } = useQuery(categories)
  const shown = shownList(search, saved, tree)
  if (shown === undefined) return <h1 className="visually-hidden">Torrents</h1>
  const { name, list } = shown
  return (
    <div className="saved-head">
      <h1 dir="auto">{name}</h1>
      {/* Extensions of browsers discover these, and read them with the session. */}
      <link rel="alternate" type="application/rss+xml" title={name} href={`/api/feeds/rss${queryOf(list)}`} />
      <link rel="alternate" type="application/feed+json" title={name} href={`/api/feeds/json${queryOf(list)}`} />
      {list.category === null && <Link to="/saved">All saved searches</Link>}
      <Button onClick={() => setOpen(true)}>Feeds</Button>
      {isOpen && <FeedsDialog list={list} name={name} onClose={() => setOpen(false)} />}
    </div>
  )
}

/** The list with feeds that the filters show: a saved search, the bookmarks, or all of a category. */
function shownList(
  search: ListSearch,
  saved: SavedSearch | undefined,
  tree: readonly CategoryTree[],
): { readonly name: string; readonly list: FeedList } | undefined {
  if (saved !== undefined) return { name: saved.name, list: { savedSearch: saved.id, category: null } }
  const text = textOf(search)
  if (text === 'mine=bookmarked') return { name: 'Bookmarks', list: { savedSearch: null, category: null } }
  const category = flatten(tree).find(({ slug }) => text === `category=${slug}`)
  return category && { name: category.path, list: { savedSearch: null, category: category.slug } }
}

function queryOf({ savedSearch, category }: FeedList): string {
  if (savedSearch !== null) return `?savedSearch=${savedSearch}`
  return category === null ? '' : `?category=${category}`
}

/** Saves the filters of the list, if any, under a name, or in the saved search that it shows. */
export function SaveSearch({ search }: { search: ListSearch }) {
  const queries = useQueryClient()
  const saved = useSaved(search)
  const [isOpen, setOpen] = useState(false)
  const change = useMutation<SavedSearch, ApiError, SavedSearch>({
    mutationFn: ({ id }) =>
      read(api.PATCH('/api/saved-searches/{id}', { params: { path: { id } }, body: { filters: textOf(search) } })),
    onSuccess: () => {
      toast('Saved.')
      return queries.invalidateQueries({ queryKey: savedSearches.queryKey })
    },
    onError: toastProblem,
  })
  if (saved !== undefined) {
    if (textOf(addressOf(saved)) === textOf(search)) return null
    return (
      <Button className="save-search" isBusy={change.isPending} onClick={() => change.mutate(saved)}>
        Save changes
      </Button>
    )
  }
  return (
    <>
      <Button className="save-search" onClick={() => setOpen(true)}>
        Save search
      </Button>
      {isOpen && <SaveDialog search={search} onClose={() => setOpen(false)} />}
    </>
  )
}

function useSaved({ saved }: ListSearch): SavedSearch | undefined {
  const { data } = useQuery({ ...savedSearches, enabled: saved !== undefined })
  return saved === undefined ? undefined : data?.find(({ id }) => id === saved)
}

/** Matches are new until the member has seen the list. */
function useVisit(id: string | undefined): void {
  const queries = useQueryClient()
  useEffect(() => {
    if (id === undefined) return
    // A failure leaves matches marked as new.
    read(api.POST('/api/saved-searches/{id}/visit', { params: { path: { id } } })).then(
      () => queries.invalidateQueries({ queryKey: savedSearches.queryKey, refetchType: 'none' }),
      () => undefined,
    )
  }, [id, queries])
}
