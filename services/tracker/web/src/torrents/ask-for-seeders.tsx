import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { api, type Torrent } from '../api/client.ts'

/** Asks the members who completed a torrent without seeders to seed it. */
export function AskForSeeders({ torrent: { id, seeders, state } }: { torrent: Torrent }) {
  const ask = useMutation<{ members: number }, ApiError>({
    mutationFn: () => read(api.POST('/api/torrents/{id}/reseed', { params: { path: { id } } })),
    onSuccess: ({ members }) =>
      toast(
        members === 0
          ? 'No other member has completed this torrent.'
          : `Asked ${formatNumberOf(members, 'member')} to seed this torrent.`,
      ),
    onError: toastProblem,
  })
  if (seeders > 0 || state !== 'approved') return null
  return (
    <Button isBusy={ask.isPending} onClick={() => ask.mutate()}>
      Ask for seeders
    </Button>
  )
}
