import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { activityOf } from '../activity/queries.ts'
import { Requests } from '../activity/requests.tsx'
import { EndingKeys } from './ending-keys.tsx'
import { overview } from './queries.ts'
import { VaultNumbers } from './vault-numbers.tsx'

const route = getRouteApi('/')

export function OverviewPage() {
  const { range } = route.useSearch()
  const { data, error, refetch, dataUpdatedAt } = useQuery(overview)
  const { data: day } = useQuery(activityOf('24h'))
  return (
    <>
      <PageHead title="Overview" />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading the overview…" />
      ) : data.projects === 0 ? (
        <Empty title="No projects yet.">
          <p>Register a project for each application. It fetches its secrets with its own key.</p>
          <Link to="/projects" search={{ register: 'yes' }}>
            Register project
          </Link>
        </Empty>
      ) : (
        <VaultNumbers overview={data} day={day} readAt={dataUpdatedAt} />
      )}
      {data !== undefined && data.endingKeys > 0 && <EndingKeys count={data.endingKeys} />}
      <Requests range={range} />
    </>
  )
}
