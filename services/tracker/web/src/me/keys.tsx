import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton, Secret } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type OwnUser } from '../api/client.ts'
import { ownUser, site } from '../api/queries.ts'
import { TorznabMeter } from './torznab-meter.tsx'

/** What clients and automation tools are given. */
export function Keys({ user }: { user: OwnUser }) {
  const { data } = useQuery(site)
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <dl className="details">
        <div>
          <dt>Announce URL</dt>
          <dd>
            <Secret text={user.announceUrl} what="announce URL" />
          </dd>
        </div>
        <div>
          <dt>Passkey</dt>
          <dd>
            <Secret text={user.passkey} what="passkey" />
          </dd>
        </div>
        {data && (
          <>
            <div>
              <dt>Torznab URL</dt>
              <dd className="secret">
                <code>{data.torznabUrl}</code> <CopyButton text={data.torznabUrl} what="Torznab URL" />
              </dd>
            </div>
            <div>
              <dt>Torznab URL with key</dt>
              <dd>
                <Secret text={`${data.torznabUrl}?apikey=${user.passkey}`} what="Torznab URL with key" />
              </dd>
            </div>
          </>
        )}
      </dl>
      <p className="prose">
        Sonarr, Radarr and Prowlarr ask for the Torznab URL and, as API key, for the passkey. Whoever has the passkey
        acts as you: show it to nobody.
      </p>
      <div className="form-actions">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Reset passkey
        </Button>
      </div>
      <TorznabMeter />
      {isAsking && <ResetPasskey onClose={() => setAsking(false)} />}
    </>
  )
}

function ResetPasskey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const reset = useMutation<OwnUser, ApiError>({
    mutationFn: () => read(api.POST('/api/user/passkey')),
    onSuccess: (changed) => {
      queries.setQueryData(ownUser.queryKey, changed)
      toast('You have a new passkey.')
      onClose()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title="Reset the passkey?"
      action="Reset passkey"
      isBusy={reset.isPending}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
    >
      <p>These stop working at once:</p>
      <ul className="bullets">
        <li>every torrent in your clients, until its .torrent is downloaded again;</li>
        <li>every tool that has the Torznab key, until it gets the new one.</li>
      </ul>
    </Confirm>
  )
}
