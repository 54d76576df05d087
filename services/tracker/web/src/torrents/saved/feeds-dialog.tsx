import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Dialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Secret } from '@vault-and-tracker/web-kit/form'
import { Ago, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { api, type FeedToken } from '../../api/client.ts'
import { feedTokens } from './queries.ts'

/** A list by its saved search or category; without both, the bookmarks. */
export type FeedList = Pick<FeedToken, 'savedSearch' | 'category'>

/** The feed addresses of a list. */
export function FeedsDialog({ list, name, onClose }: { list: FeedList; name: string; onClose: () => void }) {
  const queries = useQueryClient()
  const { data, error, refetch, dataUpdatedAt } = useQuery(feedTokens)
  const create = useMutation<FeedToken & { url: string; jsonUrl: string }, ApiError>({
    mutationFn: () => read(api.POST('/api/feed-tokens', { body: list })),
    onSuccess: () => queries.invalidateQueries({ queryKey: feedTokens.queryKey }),
    onError: toastProblem,
  })
  const own = data?.filter(
    ({ savedSearch, category }) => savedSearch === list.savedSearch && category === list.category,
  )
  return (
    <Dialog title={`Feeds of ${name}`} onClose={onClose}>
      <p>
        Add a feed address to a feed reader or a torrent client. It works without signing in: anyone who has it can read
        this list and download its torrents as you. If you revoke it, clients that use its torrents stop.
      </p>
      {create.data && (
        <div className="notice" role="status">
          <p>Copy the new address as RSS or JSON Feed. It is shown only once.</p>
          <Secret text={create.data.url} what="RSS address" />
          <Secret text={create.data.jsonUrl} what="JSON Feed address" />
        </div>
      )}
      {own === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading feed addresses…" />
      ) : own.length === 0 ? (
        <p className="muted">No feed addresses yet.</p>
      ) : (
        <ul className="feeds" aria-label="Feed addresses">
          {own.map((token) => (
            <li key={token.id}>
              <span>
                Created {formatExactTime(token.created)}, last used <Ago time={token.lastUsed} now={dataUpdatedAt} />
              </span>
              <Revoke token={token} onDone={() => token.id === create.data?.id && create.reset()} />
            </li>
          ))}
        </ul>
      )}
      <div className="form-actions">
        <Button kind="main" isBusy={create.isPending} onClick={() => create.mutate()}>
          Create feed address
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

function Revoke({ token: { id, created }, onDone }: { token: FeedToken; onDone: () => void }) {
  const queries = useQueryClient()
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/feed-tokens/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      toast('Feed address revoked.')
      onDone()
    },
    onError: toastProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: feedTokens.queryKey }),
  })
  return (
    <Button
      className="small"
      isBusy={revoke.isPending}
      onClick={() => revoke.mutate()}
      aria-label={`Revoke feed address of ${formatExactTime(created)}`}
    >
      Revoke
    </Button>
  )
}
