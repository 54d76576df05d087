import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Webhooks } from '../../standing/webhooks.tsx'
import { siteSettings } from './queries.ts'
import { SiteLook } from './site-look.tsx'
import { SitePolicy } from './site-policy.tsx'
import { SiteRates } from './site-rates.tsx'
import './site.css'

/** The look of the site, who may do what, and the site-wide rates. */
export function SitePage() {
  const { data, error, refetch } = useQuery(siteSettings)
  return (
    <>
      <PageHead title="Site" />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading settings…" />
      ) : (
        <div className="site-sections">
          <div className="stack">
            <SiteLook key={`${data.name} ${data.accent}`} settings={data} />
            <SiteRates settings={data} />
            <Webhooks whose="site" />
          </div>
          <SitePolicy
            key={[
              data.registration,
              data.uploadApproval,
              data.editApproval,
              data.staffSecondFactor,
              data.seedHours,
            ].join()}
            settings={data}
          />
        </div>
      )}
    </>
  )
}
