import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Details } from '@vault-and-tracker/web-kit/layout'
import { useState } from 'react'
import { api, type SiteSettings } from '../../api/client.ts'
import { site } from '../../api/queries.ts'
import '../manage.css'
import { FactorsForm } from '../../release/factors-form.tsx'
import { siteSettings } from './queries.ts'

const REGISTRATION = {
  open: 'Anybody may register.',
  invite: 'Who registers needs an invite.',
  closed: 'Nobody may register.',
} as const

/** What holds for the whole site: freeleech, and what the operator configured. */
export function SitePage() {
  const { data, error, refetch } = useQuery(siteSettings)
  const { data: configured } = useQuery(site)
  usePageTitle('Site')
  if (data === undefined)
    return (
      <>
        <h1>Site</h1>
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="The settings are loading." />
      </>
    )
  return (
    <>
      <h1>Site</h1>
      <Freeleech settings={data} />
      {configured && (
        <section aria-labelledby="configured" className="narrow">
          <h2 id="configured">Set by the operator</h2>
          <Details
            facts={[
              [
                'Registration',
                <>
                  {REGISTRATION[configured.registration]} <code>REGISTRATION={configured.registration}</code>
                </>,
              ],
              ['Torznab URL', <code>{configured.torznabUrl}</code>],
            ]}
          />
        </section>
      )}
    </>
  )
}

function Freeleech({ settings }: { settings: SiteSettings }) {
  const { downloadPercent, uploadPercent } = settings
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const save = useMutation<SiteSettings, ApiError, SiteSettings>({
    mutationFn: (body) => read(api.PATCH('/api/admin/site', { body })),
    onSuccess: (changed) => {
      queries.setQueryData(siteSettings.queryKey, changed)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      toast('Saved.')
      setAsking(false)
    },
  })
  const isFree = downloadPercent === 0
  return (
    <section aria-labelledby="freeleech" className="narrow">
      <h2 id="freeleech">Freeleech for everybody</h2>
      <p className="setting-now">
        <span className="tag" data-tone={isFree ? 'good' : undefined}>
          {isFree ? 'On' : 'Off'}
        </span>{' '}
        Downloads are charged {downloadPercent} %, uploads are credited {uploadPercent} %. Of torrent, user and site,
        what is best for the user counts.
      </p>
      <div className="form-actions">
        <Button kind={isFree ? 'plain' : 'main'} onClick={() => setAsking(true)}>
          {isFree ? 'End freeleech' : 'Make everything freeleech'}
        </Button>
      </div>
      <h3>Percentages</h3>
      <FactorsForm
        key={`${downloadPercent} ${uploadPercent}`}
        label="Percentages"
        factors={settings}
        error={save.error}
        isBusy={save.isPending}
        onSave={(factors) => save.mutate(factors)}
      />
      {isAsking && (
        <Confirm
          title={isFree ? 'End freeleech?' : 'Make everything freeleech?'}
          action={isFree ? 'End freeleech' : 'Make everything freeleech'}
          isBusy={save.isPending}
          onConfirm={() => save.mutate({ downloadPercent: isFree ? 100 : 0, uploadPercent }, { onError: toastProblem })}
          onCancel={() => setAsking(false)}
        >
          <p>
            {isFree
              ? 'From now on downloads of all members are charged in full, unless a torrent or a user has freeleech.'
              : 'From now on no download of any member is charged. What was charged before stays.'}
          </p>
        </Confirm>
      )}
    </section>
  )
}
