import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { EXACT, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { Requests } from '../activity/requests.tsx'
import { allProjects } from '../api/queries.ts'
import { NotFound } from '../frame/not-found.tsx'
import { Keys } from './keys.tsx'
import { ProjectHead } from './project-head.tsx'
import type { ProjectTab } from './search.ts'
import { Secrets } from './secrets.tsx'

const route = getRouteApi('/projects/$name')

const TABS: readonly (readonly [ProjectTab | undefined, string])[] = [
  [undefined, 'Keys'],
  ['secrets', 'Secrets'],
  ['requests', 'Requests'],
]

/** One project: its keys, its secrets without their values, its requests. */
export function ProjectPage() {
  const { name } = route.useParams()
  const { tab, env, range } = route.useSearch()
  const { data, error, refetch } = useQuery(allProjects)
  usePageTitle(name)
  const project = data?.find((each) => each.name === name)
  if (data !== undefined && project === undefined) return <NotFound />
  if (project === undefined)
    return (
      <>
        <h1>{name}</h1>
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="The project is loading." />
      </>
    )
  return (
    <>
      <ProjectHead project={project} />
      <Tabs
        label={`About ${name}`}
        tabs={TABS}
        current={tab}
        link={(to, attributes, text) => (
          <Link
            to="/projects/$name"
            params={{ name }}
            search={{ tab: to }}
            activeOptions={EXACT}
            resetScroll={false}
            {...attributes}
          >
            {text}
          </Link>
        )}
      />
      {tab === undefined && <Keys project={name} />}
      {tab === 'secrets' && <Secrets project={name} env={env} />}
      {tab === 'requests' && (
        <Requests
          projectId={name}
          range={range ?? '24h'}
          link={(to, attributes, text) => (
            <Link
              to="/projects/$name"
              params={{ name }}
              search={{ tab, range: to }}
              className="button"
              activeOptions={EXACT}
              resetScroll={false}
              {...attributes}
            >
              {text}
            </Link>
          )}
        />
      )}
    </>
  )
}
