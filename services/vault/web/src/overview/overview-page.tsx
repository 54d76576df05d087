import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { EXACT, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { activityOf } from '../activity/queries.ts'
import { Requests } from '../activity/requests.tsx'
import { EndingKeys } from './ending-keys.tsx'
import { overview } from './queries.ts'
import { VaultNumbers } from './vault-numbers.tsx'

const route = getRouteApi('/')

/** Where one starts: the vault in numbers, keys that end soon, and requests over time. */
export function OverviewPage() {
  const { range } = route.useSearch()
  const { data, error, refetch, dataUpdatedAt } = useQuery(overview)
  const { data: day } = useQuery(activityOf('24h'))
  usePageTitle('Overview')
  return (
    <>
      <h1>Overview</h1>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={4} label="Numbers are loading." />
      ) : data.projects === 0 ? (
        <Empty title="There is no project yet.">
          <p>An application fetches its secrets as a project, with a key of its own.</p>
          <Link to="/projects" search={{ register: 'yes' }}>
            Register a project
          </Link>
        </Empty>
      ) : (
        <VaultNumbers overview={data} day={day} readAt={dataUpdatedAt} />
      )}
      {data !== undefined && data.endingKeys > 0 && <EndingKeys count={data.endingKeys} />}
      <Requests
        range={range ?? '24h'}
        link={(to, attributes, text) => (
          <Link
            to="/"
            search={{ range: to }}
            className="button"
            activeOptions={EXACT}
            resetScroll={false}
            {...attributes}
          >
            {text}
          </Link>
        )}
      />
    </>
  )
}
