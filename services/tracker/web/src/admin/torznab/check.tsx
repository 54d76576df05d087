import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Copyable, Form, Secret, TextField } from '@vault-and-tracker/web-kit/form'
import { formatDuration, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import type { ReactNode } from 'react'
import { ownUser, site } from '../../api/queries.ts'
import { type Checked, checkConnection, type Exchange } from './check-connection.ts'

/** A check of the API from this browser, and the settings for tools. */
export function Check() {
  const user = useQuery(ownUser)
  const about = useQuery(site)
  if (user.data === undefined || about.data === undefined)
    return (
      <Pending
        error={user.error ?? about.error}
        onRetry={() => void Promise.all([user.refetch(), about.refetch()])}
        rows={12}
        label="Loading the API URL…"
      />
    )
  const { passkey, passkeyOpensTorznab } = user.data
  const { torznabUrl } = about.data
  return (
    <>
      {new URL(torznabUrl).origin !== location.origin && (
        <p className="notice">
          Tools use {new URL(torznabUrl).origin}, but this page checks the API at {location.origin}.
        </p>
      )}
      {!passkeyOpensTorznab && (
        <p className="notice">
          <span>
            You turned your passkey off for Torznab, so this check fails.{' '}
            <Link to="/me" search={{ tab: 'keys' }}>
              Turn it on
            </Link>
          </span>
        </p>
      )}
      <Connection passkey={passkey} />
      <section className="block-list" aria-labelledby="tools">
        <h2 id="tools">Tool settings</h2>
        <p className="muted">The key is your own passkey. Members use theirs, or an API token, from their account.</p>
        <Details
          facts={[
            ['URL', <Copyable text={torznabUrl} what="URL" />],
            ['API path', <Copyable text="/api" what="API path" />],
            ['API key', <Secret text={passkey} what="API key" />],
            [
              'URL with path and key',
              <Secret text={`${torznabUrl}/api?apikey=${passkey}`} what="URL with path and key" />,
            ],
          ]}
        />
        <p className="muted">
          Add a generic Torznab indexer. If the tool has no field for the API path, append the path to the URL. If it
          has a single field, as cross-seed does, use the URL with path and key.
        </p>
      </section>
    </>
  )
}

function Connection({ passkey }: { passkey: string }) {
  const check = useMutation<Checked, Error, string>({ mutationFn: (cat) => checkConnection(passkey, cat) })
  return (
    <section className="card narrow block-list" aria-labelledby="connection">
      <h2 id="connection">Connection</h2>
      <p className="muted">
        Requests the capabilities and the latest releases from this browser, as tools do. It counts as one of your
        searches.
      </p>
      <Form
        label="Connection check"
        fields={['cat']}
        error={undefined}
        isBusy={check.isPending}
        onSubmit={({ cat = '' }) => check.mutate(cat)}
        submit="Check connection"
      >
        <TextField
          label="Categories"
          name="cat"
          hint="Torznab IDs, or empty for all. Sonarr's defaults are 5030,5040; Radarr's are 2000 to 2060."
          pattern="[0-9, ]*"
        />
      </Form>
      <div role="status">
        {check.error && <p className="field-problem">The check failed: {check.error.message}</p>}
        {check.data && <Result checked={check.data} />}
      </div>
    </section>
  )
}

function Result({ checked: { problem, releases = 0, exchanges } }: { checked: Checked }) {
  const tone = problem !== undefined ? 'bad' : releases === 0 ? 'warn' : 'good'
  const advice = tone === 'bad' ? adviceOn(exchanges.at(-1)) : tone === 'warn' && NO_RELEASES
  return (
    <div className="check-result" data-tone={tone}>
      <p>
        <b>{problem === undefined ? 'The API works' : 'The check failed:'}</b>{' '}
        {problem ?? `and returned ${formatNumberOf(releases, 'release')}`}.
      </p>
      {advice && <p>{advice}</p>}
      <ul className="exchanges">
        {exchanges.map(({ request, status, durationMs }) => (
          <li key={request}>
            <code>GET {request}&amp;apikey=…</code>{' '}
            <span className="muted">
              {status}, {formatValue(durationMs, 'ms')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

const NO_RELEASES =
  'Sonarr and similar programs reject an indexer without releases in their categories. Upload a torrent there, approve one, or choose other categories.'

/** Advice on an error of the API, by its code. */
function adviceOn(exchange: Exchange | undefined): ReactNode {
  switch (exchange?.errorCode) {
    case 100:
      return 'The key belongs to no user or to a banned account, or its owner turned it off for Torznab.'
    case 101:
      return 'The account of this key is suspended.'
    case 102:
      return (
        <>
          The user of this key is blocked from the API. <TabLink tab="blocks">Show blocked users</TabLink>
        </>
      )
    case 500:
      return `Try again in ${formatDuration(exchange.retryAfterSeconds)}.`
    case 910:
      return (
        <>
          The API is disabled. <TabLink tab="configuration">Open the settings</TabLink>
        </>
      )
    case undefined:
    default:
      return undefined
  }
}

function TabLink({ tab, children }: { tab: 'blocks' | 'configuration'; children: string }) {
  return (
    <Link to="/admin/torznab" search={{ tab }}>
      {children}
    </Link>
  )
}
