import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type ListedTorrent, type Torrent } from '../../api/client.ts'
import { EditDialog } from '../../release/edit-dialog.tsx'
import { moderated, reloadDecided } from './queries.ts'
import { RejectDialog } from './reject-dialog.tsx'
import type { QueueSearch } from './search.ts'
import { Submission } from './submission.tsx'
import { useReviewKeys } from './use-review-keys.ts'

/** The selected torrent and the actions of a moderator. After a decision, the next torrent is selected. */
export function Review({ items, search }: { items: readonly ListedTorrent[]; search: QueueSearch }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isRejecting, setRejecting] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const id = search.torrent ?? items[0]?.id ?? ''
  const { data: torrent, error, refetch } = useQuery(moderated(id))
  const index = items.findIndex((item) => item.id === id)
  const go = (to: ListedTorrent | undefined): void => {
    if (to !== undefined)
      void navigate({
        to: '/admin/moderation',
        search: { ...search, torrent: to.id },
        replace: true,
        resetScroll: false,
      })
  }
  const reload = (): void => reloadDecided(queries)
  const decided = (text: string): void => {
    toast(text)
    setRejecting(false)
    const next = items[index + 1] ?? items[index - 1]
    void navigate({
      to: '/admin/moderation',
      // On a narrow screen with nothing selected, the queue stays.
      search: { ...search, torrent: search.torrent === undefined ? undefined : next?.id },
      replace: true,
      resetScroll: false,
    })
    reload()
  }
  const approve = useMutation<Torrent, ApiError, Torrent>({
    mutationFn: ({ version }) =>
      read(
        api.POST('/api/admin/torrents/{id}/approve', {
          params: { path: { id }, query: { ...(version !== null && { version }) } },
        }),
      ),
    onSuccess: ({ name }) => decided(`${name} approved.`),
    onError: (problem) => {
      toastProblem(problem)
      reload()
    },
  })
  const mayApprove = torrent !== undefined && torrent.state !== 'approved'
  const mayReject = torrent !== undefined && torrent.state !== 'rejected'
  useReviewKeys({
    j: () => go(items[index + 1]),
    k: () => go(items[index - 1]),
    a: () => mayApprove && !approve.isPending && approve.mutate(torrent),
    r: () => mayReject && setRejecting(true),
    e: () => torrent !== undefined && setEditing(true),
  })
  return (
    <section className="review" aria-label="Torrent to review">
      <p className="review-back">
        <Link to="/admin/moderation" search={{ ...search, torrent: undefined }}>
          Back to the queue
        </Link>
      </p>
      {torrent === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading the torrent…" />
      ) : (
        <>
          <Submission torrent={torrent} />
          <div className="form-actions review-actions">
            {mayApprove && (
              <Button
                kind="main"
                isBusy={approve.isPending}
                aria-keyshortcuts="a"
                onClick={() => approve.mutate(torrent)}
              >
                Approve torrent <Key name="a" />
              </Button>
            )}
            {mayReject && (
              <Button kind="danger" aria-keyshortcuts="r" onClick={() => setRejecting(true)}>
                Reject torrent <Key name="r" />
              </Button>
            )}
            <Button aria-keyshortcuts="e" onClick={() => setEditing(true)}>
              Edit torrent <Key name="e" />
            </Button>
            <Link to="/torrents/$id" params={{ id }} className="button">
              View torrent
            </Link>
            <p className="muted key-hint">
              <kbd>j</kbd> next, <kbd>k</kbd> previous
            </p>
          </div>
          {isEditing && (
            <EditDialog
              torrent={torrent}
              isStaff
              onClose={() => {
                setEditing(false)
                void queries.invalidateQueries({ queryKey: ['admin', 'moderation'] })
              }}
            />
          )}
          {isRejecting && (
            <RejectDialog
              torrent={torrent}
              onFailed={reload}
              onRejected={() => decided(`${torrent.name} rejected.`)}
              onClose={() => setRejecting(false)}
            />
          )}
        </>
      )}
    </section>
  )
}

function Key({ name }: { name: string }) {
  return (
    <kbd aria-hidden="true" className="key-hint">
      {name}
    </kbd>
  )
}
