import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import { api, type OwnUser } from '../api/client.ts'

/** How many torrents the member still has to seed, and for how long. */
const duties = queryOptions({
  queryKey: ['me', 'torrents', 'duties', 'totals'],
  queryFn: ({ signal }) =>
    read(api.GET('/api/user/torrents/totals', { params: { query: { list: 'duties' } }, signal })),
})

/** What the ratio and a hit-and-run are here, with the numbers of the member. */
export function Standing({ user: { uploaded, downloaded, ratio } }: { user: OwnUser }) {
  const { data } = useQuery(duties)
  return (
    <section aria-labelledby="ratio" className="card">
      <h2 id="ratio">Your ratio and hit-and-runs</h2>
      <Numbers
        figures={[
          { label: 'Uploaded', value: formatBytes(uploaded) },
          { label: 'Downloaded', value: formatBytes(downloaded) },
          { label: 'Ratio', value: formatRatio(ratio), note: ratio === null ? 'nothing downloaded' : undefined },
          { label: 'Left to seed', value: data === undefined ? '…' : formatCount(data.total) },
        ]}
      />
      <p className="prose">
        Your ratio is your upload divided by your download.{' '}
        {ratio === null
          ? 'Nothing you have downloaded counts yet.'
          : `It is ${formatRatio(ratio)}: ${formatBytes(uploaded)} divided by ${formatBytes(downloaded)}.`}{' '}
        Freeleech downloads do not count, but their uploads do.
      </p>
      {data?.requiredSeconds === 0 && (
        <p className="prose">This site has no minimum seed time, so there are no hit-and-runs.</p>
      )}
      {data !== undefined && data.requiredSeconds > 0 && (
        <p className="prose">
          Seed each completed torrent for {formatDuration(data.requiredSeconds)}, or until you have uploaded as much of
          it as you downloaded. If you stop earlier, it counts as a hit-and-run.{' '}
          {data.total === 0 ? (
            'You have nothing left to seed.'
          ) : (
            <Link to="/me/torrents" search={{ list: 'duties' }}>
              Show what is left to seed
            </Link>
          )}
        </p>
      )}
    </section>
  )
}
