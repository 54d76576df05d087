import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Icon } from '@vault-and-tracker/web-kit/icon'
import { api, type ListedTorrent } from '../../api/client.ts'

type Bookmarkable = Pick<ListedTorrent, 'id' | 'name' | 'state' | 'bookmarked'>

/** The bookmark of a torrent in a row. */
export function BookmarkStar({ torrent }: { torrent: Bookmarkable }) {
  const { isOn, toggle } = useBookmark(torrent)
  return (
    <button type="button" className="row-action download" aria-pressed={isOn} onClick={toggle}>
      <Icon name="bookmark" />
      <span className="visually-hidden">Bookmark {torrent.name}</span>
    </button>
  )
}

/** The bookmark of a torrent on its page. */
export function BookmarkButton({ torrent }: { torrent: Bookmarkable }) {
  const { isOn, toggle } = useBookmark(torrent)
  if (torrent.state !== 'approved') return null
  return <Button onClick={toggle}>{isOn ? 'Remove bookmark' : 'Bookmark'}</Button>
}

function useBookmark({ id, bookmarked = false }: Bookmarkable) {
  const queries = useQueryClient()
  const change = useMutation<unknown, ApiError, boolean>({
    mutationFn: (wanted) => {
      const params = { params: { path: { id } } }
      return read(wanted ? api.PUT('/api/bookmarks/{id}', params) : api.DELETE('/api/bookmarks/{id}', params))
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['torrents'] }),
    onError: toastProblem,
  })
  const isOn = change.isPending ? change.variables : bookmarked
  return {
    isOn,
    toggle: () => {
      if (!change.isPending) change.mutate(!isOn)
    },
  }
}
