import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { lazyDialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useEffect, useState } from 'react'
import { api, type SavedSearch } from '../../api/client.ts'
import { addressOf, filtersIn, type ListSearch, textOf } from '../list-search.ts'
import { savedSearches } from './queries.ts'

const SaveDialog = lazyDialog(async () => (await import('./save-dialog.tsx')).SaveDialog)
const FeedsDialog = lazyDialog(async () => (await import('./feeds-dialog.tsx')).FeedsDialog)

/** The heading of the list: the name of the saved search that it shows, if any. */
export function SavedHead({ search }: { search: ListSearch }) {
  const saved = useSaved(search)
  useVisit(saved?.id)
  const [isOpen, setOpen] = useState(false)
  const isBookmarks = saved === undefined && textOf(search) === 'mine=bookmarked'
  const name = saved?.name ?? (isBookmarks ? 'Bookmarks' : undefined)
  if (name === undefined) return <h1 className="visually-hidden">Torrents</h1>
  return (
    <div className="saved-head">
      <h1 dir="auto">{name}</h1>
      <Link to="/saved">All saved searches</Link>
      <Button onClick={() => setOpen(true)}>Feeds</Button>
      {isOpen && <FeedsDialog savedSearch={saved?.id ?? null} name={name} onClose={() => setOpen(false)} />}
    </div>
  )
}

/** Saves the filters of the list under a name, or in the saved search that it shows. */
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
  if (Object.values(filtersIn(search)).every((value) => value === undefined)) return null
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
