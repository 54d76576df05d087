import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton, Form, Secret, TextField } from '@vault-and-tracker/web-kit/form'
import { formatDuration, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import type { ReactNode } from 'react'
import { ownUser, site } from '../../api/queries.ts'
import { type Checked, checkConnection, type Exchange } from './check-connection.ts'

const ARR_FIELDS = { URL: '{url}', 'API Path': '/api', 'API Key': '{key}' }

/** Each program's page for adding the API, and its fields. `{url}` and `{key}` are placeholders. */
const TOOLS = [
  ['Sonarr, Radarr, Lidarr, Readarr', 'Settings → Indexers → Add → Torznab', ARR_FIELDS],
  ['Prowlarr', 'Indexers → Add Indexer → Generic Torznab', ARR_FIELDS],
  ['Jackett', 'Settings of a feed indexer', { URL: '{url}/api', 'API Key': '{key}' }],
  ['cross-seed', 'torznab in config.js', { torznab: '{url}/api?apikey={key}' }],
  ['autobrr', 'Settings → Feeds → Torznab', { URL: '{url}', 'API Key': '{key}' }],
] as const

/** A check of the API from this browser, and the settings of common tools. */
export function Check() {
  const user = useQuery(ownUser)
  const about = useQuery(site)
  if (user.data === undefined || about.data === undefined)
    return (
      <Pending
        error={user.error ?? about.error}
        onRetry={() => void Promise.all([user.refetch(), about.refetch()])}
        rows={12}
        label="Loading the URL of the API."
      />
    )
  const { passkey } = user.data
  const { torznabUrl } = about.data
  return (
    <>
      {new URL(torznabUrl).origin !== location.origin && (
        <p className="notice">
          Tools use {new URL(torznabUrl).origin}, but this page checks the API at {location.origin}.
        </p>
      )}
      <Connection passkey={passkey} />
      <section className="block-list" aria-labelledby="tools">
        <h2 id="tools">Tool settings</h2>
        <p className="muted">The key is your own passkey. Members find theirs in their account.</p>
        <div className="tool-list">
          {TOOLS.map(([name, place, fields]) => (
            <section key={name} className="tool" aria-labelledby={`tool-${name}`}>
              <h3 id={`tool-${name}`}>{name}</h3>
              <p className="muted">{place}</p>
              <Details
                facts={Object.entries(fields).map(([label, pattern]) => [
                  label,
                  <FieldValue what={`${label} for ${name}`} pattern={pattern} url={torznabUrl} passkey={passkey} />,
                ])}
              />
            </section>
          ))}
        </div>
      </section>
    </>
  )
}

function FieldValue(props: { what: string; pattern: string; url: string; passkey: string }) {
  const { what, pattern, url, passkey } = props
  const text = pattern.replace('{url}', url).replace('{key}', passkey)
  if (pattern.includes('{key}')) return <Secret text={text} what={what} />
  return (
    <span className="secret">
      <code>{text}</code> <CopyButton text={text} what={what} />
    </span>
  )
}

function Connection({ passkey }: { passkey: string }) {
  const check = useMutation<Checked, Error, string>({ mutationFn: (cat) => checkConnection(passkey, cat) })
  return (
    <section className="narrow block-list" aria-labelledby="connection">
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
        actions={
          <Button type="submit" kind="main" isBusy={check.isPending}>
            Check connection
          </Button>
        }
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

/** Advice on the errors of the API by code. */
const ADVICE: Readonly<Record<number, ReactNode>> = {
  100: 'The key belongs to no user, or to a banned account.',
  101: 'The account of this key is suspended.',
  102: (
    <>
      The user of this key is blocked from the API.{' '}
      <Link to="/admin/torznab" search={{ tab: 'blocks' }}>
        Show blocked users
      </Link>
    </>
  ),
  910: (
    <>
      The API is disabled.{' '}
      <Link to="/admin/torznab" search={{ tab: 'configuration' }}>
        Open the settings
      </Link>
    </>
  ),
}

function adviceOn(exchange: Exchange | undefined): ReactNode {
  if (exchange?.errorCode === 500) return `Try again in ${formatDuration(exchange.retryAfterSeconds)}.`
  return ADVICE[exchange?.errorCode ?? 0]
}
