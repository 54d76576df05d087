import { Link } from '@tanstack/react-router'
import { formatCount, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import type { ReactNode } from 'react'
import type { Notice } from '../api/client.ts'
import { ratesText } from '../release/rates.ts'
import { BreakableName } from '../release/release-tags.tsx'

/** The text of a notice, with a link to its torrent. `onFollow` is called when the reader follows the link. */
export function NoticeText({ notice, onFollow }: { notice: Notice; onFollow: () => void }) {
  const { kind, torrent, times, details } = notice
  const name = torrent ? (
    <Link to="/torrents/$id" params={{ id: torrent.id }} preload={false} onClick={onFollow}>
      <BreakableName name={torrent.name} />
    </Link>
  ) : (
    <strong>{details.name === undefined ? 'A deleted torrent' : <BreakableName name={details.name} />}</strong>
  )
  switch (kind) {
    case 'approval':
      return <p>{name} was approved.</p>
    case 'rejection':
      return <WithReason reason={details.reason}>{name} was rejected.</WithReason>
    case 'deletion':
      return <WithReason reason={details.reason}>Staff deleted {name}.</WithReason>
    case 'edit':
      return (
        <p>
          Staff edited {name}: {(details.fields ?? []).map((field) => FIELDS[field] ?? field).join(', ')}.
        </p>
      )
    case 'rates':
      return (
        <p>
          {details.scope === undefined ? <>New rates for {name}</> : SCOPES[details.scope]}: {ratesOf(details)}.
        </p>
      )
    case 'reseed':
      return (
        <p>
          {name} has no seeders. {times === 1 ? 'A member asked' : `Members asked ${formatCount(times)} times for`} you
          to seed it.
        </p>
      )
    case 'report':
      return <p>Staff looked at {name}, which you reported.</p>
    case 'search':
      return (
        <p>
          {torrent !== null && times === 1 ? (
            <>{name} matches</>
          ) : (
            `${formatNumberOf(times, 'new torrent')} ${times === 1 ? 'matches' : 'match'}`
          )}{' '}
          your saved search{' '}
          {details.search && (
            <Link to="/saved/$id" params={{ id: details.search.id }} preload={false} onClick={onFollow} dir="auto">
              {details.search.name}
            </Link>
          )}
          {torrent !== null && times > 1 && <>, the latest {name}</>}.
        </p>
      )
    case 'second-factor':
      return (
        <p>
          An administrator removed your second factor. If you did not ask for it, change your password and{' '}
          <Link to="/me" search={{ tab: 'security' }} onClick={onFollow}>
            add a new one
          </Link>
          .
        </p>
      )
    case 'token':
      return (
        <p>
          An administrator revoked your API token <bdi>{details.name}</bdi>.
        </p>
      )
    case 'webhook':
      return (
        <p>
          The webhook to <bdi>{details.name}</bdi> was disabled, because every attempt failed for a day.
        </p>
      )
    case 'warning':
      return (
        <>
          <p>
            <strong>Staff warned you.</strong>
          </p>
          <p className="description">{details.reason}</p>
        </>
      )
    case 'invite':
      return (
        <p>
          <strong>{details.username}</strong> registered with your invite.
        </p>
      )
  }
}

function WithReason({ reason, children }: { reason: string | undefined; children: ReactNode }) {
  return (
    <>
      <p>{children}</p>
      {reason !== undefined && reason !== '' && (
        <p className="muted">
          Reason: <bdi>{reason}</bdi>
        </p>
      )}
    </>
  )
}

const FIELDS: Readonly<Record<string, string>> = {
  imdb: 'IMDb ID',
  tmdb: 'TMDB ID',
  tvdb: 'TVDB ID',
  hasNfo: 'NFO',
  hasMediaInfo: 'MediaInfo',
}

const SCOPES = { site: 'New site-wide rates', account: 'New rates for your account' } as const

function ratesOf({ downloadPercent = 100, uploadPercent = 100 }: Notice['details']): string {
  const words = ratesText({ downloadPercent, uploadPercent })
  return words.length === 0 ? 'normal' : words.join(', ').toLowerCase()
}
