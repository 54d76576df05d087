import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { Requests } from '../activity/requests.tsx'
import { allProjects } from '../api/queries.ts'
import { NotFound } from '../frame/frame.tsx'
import { Environments } from './environments/environments.tsx'
import { Keys } from './keys/keys.tsx'
import { ProjectHead } from './project-head.tsx'
import { ReferenceRules } from './reference-rules/reference-rules.tsx'
import type { ProjectTab } from './search.ts'
import { Compare } from './secrets/compare.tsx'
import { Secrets } from './secrets/secrets.tsx'
import { TrustRules } from './trust-rules/trust-rules.tsx'
import { Webhooks } from './webhooks/webhooks.tsx'

const route = getRouteApi('/projects/$name')

const TABS: readonly (readonly [ProjectTab | undefined, string])[] = [
  [undefined, 'Keys'],
  ['secrets', 'Secrets'],
  ['compare', 'Compare'],
  ['environments', 'Environments'],
  ['trust', 'Trust rules'],
  ['references', 'Reference rules'],
  ['webhooks', 'Webhooks'],
  ['requests', 'Requests'],
]

export function ProjectPage() {
  const { name } = route.useParams()
  const { tab, ended, env, range, webhook } = route.useSearch()
  const { data, error, refetch } = useQuery(allProjects)
  usePageTitle(name)
  const project = data?.find((each) => each.name === name)
  if (data !== undefined && project === undefined) return <NotFound />
  if (project === undefined)
    return (
      <>
        <h1>{name}</h1>
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading the project…" />
      </>
    )
  return (
    <>
      <ProjectHead project={project} />
      <Tabs label={`Project ${name}`} tabs={TABS} current={tab} />
      {tab === undefined && <Keys project={name} ended={ended !== undefined} />}
      {tab === 'secrets' && <Secrets project={name} env={env} />}
      {tab === 'compare' && <Compare project={name} />}
      {tab === 'environments' && <Environments project={name} />}
      {tab === 'references' && <ReferenceRules project={name} />}
      {tab === 'trust' && <TrustRules project={name} />}
      {tab === 'webhooks' && <Webhooks project={name} chosen={webhook} />}
      {tab === 'requests' && <Requests projectId={name} range={range} />}
    </>
  )
}
