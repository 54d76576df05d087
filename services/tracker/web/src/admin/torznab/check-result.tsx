import { Link } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { formatCount, formatDuration } from '@vault-and-tracker/web-kit/format'
import type { ReactNode } from 'react'
import type { Checked } from './tools/replay.ts'
import type { Tool } from './tools/tools.ts'

/** What a tool says, why, and what to do about it. */
export function CheckResult({ tool, checked }: { tool: Tool; checked: Checked }) {
  const { message, releases = 0, exchanges } = checked
  const isGood = message === undefined && releases > 0
  return (
    <div className="check-result" data-tone={message !== undefined ? 'bad' : isGood ? 'good' : 'warn'}>
      {message === undefined ? (
        <p>
          <b>{tool.name} accepts the indexer</b>, with{' '}
          {releases === 1 ? '1 release' : `${formatCount(releases)} releases`}.
        </p>
      ) : (
        <p>
          <b>{tool.name} says:</b> {message}
        </p>
      )}
      {!isGood && <Advice tool={tool} checked={checked} />}
      <ul className="exchanges">
        {exchanges.map(({ request, status, durationMs, error }) => (
          <li key={request}>
            <code>GET {request}</code>
            <span className="muted">
              {' '}
              {status}
              {error && `, error ${error.code} ${error.description}`}, {formatValue(durationMs, 'ms')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Advice({ tool, checked }: { tool: Tool; checked: Checked }) {
  const last = checked.exchanges.at(-1)
  const advice = last?.error === undefined ? tool.nothing : adviceOn(last.error.code, last.retryAfter)
  const isExplained = last?.error !== undefined || last?.status === 200
  return isExplained && advice !== undefined ? <p>{advice}</p> : null
}

function adviceOn(code: number, retryAfter: number | undefined): ReactNode {
  switch (code) {
    case 100:
      return 'The key belongs to nobody, or to an account that is banned.'
    case 101:
      return 'The account of this key is suspended.'
    case 102:
      return (
        <>
          The user of this key is blocked from the API; the block is lifted under{' '}
          <Link to="/admin/torznab" search={{ tab: 'blocks' }}>
            Blocks
          </Link>
          .
        </>
      )
    case 500:
      return `The limit is reached. The next request is answered in ${formatDuration(retryAfter ?? 0)}.`
    case 910:
      return (
        <>
          The API is switched off; it is switched on under{' '}
          <Link to="/admin/torznab" search={{ tab: 'configuration' }}>
            Configuration
          </Link>
          .
        </>
      )
    default:
      return undefined
  }
}
