import { Confirm, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import type { SiteSettings } from '../../api/client.ts'
import { RatesForm } from '../../release/rates-form.tsx'
import { saveSite, useSiteChange } from './queries.ts'

/** The site-wide rates. */
export function SiteRates({ settings }: { settings: SiteSettings }) {
  const { downloadPercent, uploadPercent } = settings
  const [isAsking, setAsking] = useState(false)
  const save = useSiteChange(saveSite, () => setAsking(false))
  const isFree = downloadPercent === 0
  const action = isFree ? 'End freeleech' : 'Start freeleech'
  return (
    <section aria-labelledby="rates" className="card">
      <h2 id="rates">Site-wide rates</h2>
      <p className="setting-now">
        {isFree && (
          <>
            <span className="tag" data-tone="good">
              Freeleech
            </span>{' '}
          </>
        )}
        Download rate {downloadPercent} %, upload rate {uploadPercent} %. Each transfer uses the best rates of the
        torrent, the user and the site.
      </p>
      <div className="form-actions">
        <Button kind={isFree ? 'plain' : 'main'} onClick={() => setAsking(true)}>
          {action}
        </Button>
      </div>
      <RatesForm
        key={`${downloadPercent} ${uploadPercent}`}
        label="Site-wide rates"
        rates={settings}
        error={save.error}
        isBusy={save.isPending}
        onSave={(rates) => save.mutate(rates)}
      />
      {isAsking && (
        <Confirm
          title={`${action} for the whole site?`}
          action={action}
          isBusy={save.isPending}
          onConfirm={() => save.mutate({ downloadPercent: isFree ? 100 : 0, uploadPercent }, { onError: toastProblem })}
          onCancel={() => setAsking(false)}
        >
          <p>
            {isFree
              ? 'Downloads count in full again, unless the torrent or the member has freeleech.'
              : 'Downloads no longer count for any member. Earlier downloads still do.'}
          </p>
        </Confirm>
      )}
    </section>
  )
}
