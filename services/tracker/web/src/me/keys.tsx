import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Copyable, Secret } from '@vault-and-tracker/web-kit/form'
import { Details, type Fact } from '@vault-and-tracker/web-kit/layout'
import { useState } from 'react'
import { api, type OwnUser } from '../api/client.ts'
import { ownStats, ownUser, site } from '../api/queries.ts'
import { PasskeyConsequences } from '../release/passkey-consequences.tsx'
import { Webhooks } from '../standing/webhooks.tsx'
import { ApiTokens } from './api-tokens.tsx'
import { Automation } from './automation.tsx'
import { OwnSwitch } from './own-switch.tsx'
import { TorznabMeter } from './torznab-meter.tsx'

/** The credentials for clients and automation tools. */
export function Keys({ user }: { user: OwnUser }) {
  const { data } = useQuery(site)
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <div className="card">
        <Details
          facts={[
            ['Announce URL', <Secret text={user.announceUrl} what="announce URL" />],
            ['Passkey', <Secret text={user.passkey} what="passkey" />],
            ...(data === undefined ? [] : torznabFacts(data.torznabUrl, user)),
          ]}
        />
        <p className="prose">
          In Sonarr, Radarr and Prowlarr, enter the Torznab URL, and an API token or the passkey as the API key. Keep
          the passkey secret: anyone who has it can act as you.
        </p>
        <OwnSwitch user={user} of="passkeyOpensTorznab" label="Accept my passkey for Torznab" />
        <div className="form-actions">
          <Button kind="danger" onClick={() => setAsking(true)}>
            Reset passkey
          </Button>
        </div>
      </div>
      <ApiTokens />
      <Automation />
      <Webhooks whose="own" />
      <TorznabMeter />
      {isAsking && <ResetPasskey id={user.id} onClose={() => setAsking(false)} />}
    </>
  )
}

function torznabFacts(url: string, { passkey, passkeyOpensTorznab }: OwnUser): readonly Fact[] {
  const withKey = <Secret text={`${url}?apikey=${passkey}`} what="Torznab URL with key" />
  return [
    ['Torznab URL', <Copyable text={url} what="Torznab URL" />],
    ...(passkeyOpensTorznab ? ([['Torznab URL with key', withKey]] as const) : []),
  ]
}

function ResetPasskey({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient()
  const { data: stats } = useQuery(ownStats(id))
  const [keepAnnounceKeys, setKeeping] = useState(false)
  const active = stats && (stats.seeding ?? 0) + (stats.leeching ?? 0)
  const reset = useMutation<OwnUser, ApiError>({
    mutationFn: () =>
      read(
        api.POST('/api/user/passkey', { params: { query: { keepAnnounceKeys: keepAnnounceKeys ? 'true' : 'false' } } }),
      ),
    onSuccess: (changed) => {
      queries.setQueryData(ownUser.queryKey, changed)
      toast('Passkey reset.')
      onClose()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title="Reset your passkey?"
      action="Reset passkey"
      isBusy={reset.isPending}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
    >
      <PasskeyConsequences active={active} whose="your" />
      <label className="switch">
        <input type="checkbox" checked={keepAnnounceKeys} onChange={({ target }) => setKeeping(target.checked)} />
        Keep torrents downloaded with API tokens or feed addresses working
      </label>
    </Confirm>
  )
}
