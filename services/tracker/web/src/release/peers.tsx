import { formatCount } from '@vault-and-tracker/web-kit/format'

/** A count of peers, marked with a sign and a colour. */
export function Peers({ kind, count }: { kind: 'seeders' | 'leechers'; count: number }) {
  const isNone = count === 0
  return (
    <span className="peers" data-kind={isNone && kind === 'seeders' ? 'none' : isNone ? 'quiet' : kind}>
      {formatCount(count)}
      <span aria-hidden="true">{kind === 'seeders' ? (isNone ? ' ×' : ' ▲') : isNone ? ' ·' : ' ▼'}</span>
    </span>
  )
}
