import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { formatDuration, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import type { ReactNode } from 'react'
import type { OwnUser } from '../../api/client.ts'
import { ownUser, site } from '../../api/queries.ts'
import { type Checked, checkConnection, type Failure } from './check-connection.ts'

/** A check of the API from this browser. */
export function Check() {
  const user = useQuery(ownUser)
  const about = useQuery(site)
  if (user.data === undefined || about.data === undefined)
    return (
      <Pending
        error={user.error ?? about.error}
        onRetry={() => void Promise.all([user.refetch(), about.refetch()])}
        rows={4}
        label="Loading the API URL…"
      />
    )
  const { origin } = new URL(about.data.torznabUrl)
  return (
    <>
      {origin !== location.origin && (
        <p className="notice">
          Tools use {origin}, but this page checks the API at {location.origin}.
        </p>
      )}
      <Connection user={user.data} />
    </>
  )
}

function Connection({ user }: { user: OwnUser }) {
  const check = useMutation<Checked, Error, string>({ mutationFn: (cat) => checkConnection(user, cat) })
  return (
    <section className="card narrow block-list" aria-labelledby="connection">
      <h2 id="connection">Connection</h2>
      <p className="muted">
        Requests the capabilities, the latest releases, one of them, its .torrent file and the announce URL from this
        browser, with your passkey. It counts as two searches and a download. The URL for tools is on{' '}
        <Link to="/me" search={{ tab: 'keys' }}>
          your account page
        </Link>
        .
      </p>
      <Form
        label="Connection check"
        fields={['cat']}
        error={undefined}
        isBusy={check.isPending}
        onSubmit={({ cat = '' }) => check.mutate(cat)}
        submit="Check connection"
      >
        <TextField label="Categories" name="cat" hint="Torznab IDs, or empty for all." pattern="[0-9, ]*" />
      </Form>
      <div role="status">
        {check.error && <p className="field-problem">The check failed: {check.error.message}</p>}
        {check.data && <Result checked={check.data} />}
      </div>
    </section>
  )
}

function Result({ checked: { failure, releases, exchanges } }: { checked: Checked }) {
  return (
    <div className="check-result" data-tone={failure ? 'bad' : releases === 0 ? 'warn' : 'good'}>
      {failure ? (
        <p>
          <b>{failure.step} failed:</b> {explanationOf(failure)}
        </p>
      ) : (
        <p>
          <b>The API works</b> and returned {formatNumberOf(releases, 'release')}.
        </p>
      )}
      {!failure && releases === 0 && (
        <p>
          Sonarr and similar programs reject an indexer without releases in their categories. Upload a torrent there,
          approve one, or choose other categories. Downloads and announces can only be checked with a release.
        </p>
      )}
      <ul className="exchanges">
        {exchanges.map(({ request, status, durationMs }) => (
          <li key={request}>
            <code>GET {request}</code>{' '}
            <span className="muted">
              {status}, {formatValue(durationMs, 'ms')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The rest of the sentence about a failure. */
function explanationOf({ problem, errorCode, retryAfterSeconds = 0 }: Failure): ReactNode {
  switch (errorCode) {
    case 100:
      return (
        <>
          the passkey is turned off for Torznab in{' '}
          <Link to="/me" search={{ tab: 'keys' }}>
            your account
          </Link>
          .
        </>
      )
    case 102:
      return (
        <>
          your account is <TabLink tab="blocks">blocked from the API</TabLink> or may not download.
        </>
      )
    case 500:
      return `a limit was reached. Try again in ${formatDuration(retryAfterSeconds)}.`
    case 910:
      return (
        <>
          the API is disabled in <TabLink tab="configuration">the settings</TabLink>.
        </>
      )
    case undefined:
      return `${problem}.`
    default:
      return `error ${errorCode}, ${problem}.`
  }
}

function TabLink({ tab, children }: { tab: 'blocks' | 'configuration'; children: string }) {
  return (
    <Link to="/admin/torznab" search={{ tab }}>
      {children}
    </Link>
  )
}
