import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import type { UserStats } from '../api/client.ts'

type Entry = readonly [label: string, value: string, note?: string | undefined]

/** The totals of a user: those that one may see. */
export function UserNumbers({ stats }: { stats: UserStats }) {
  return (
    <dl className="numbers">
      {[...transfersOf(stats), ...activityOf(stats)].map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value}
            {note !== undefined && <span className="note">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function transfersOf(stats: UserStats): readonly Entry[] {
  const { uploaded = 0, downloaded = 0, uploadedActual = uploaded, downloadedActual = downloaded, ratio = null } = stats
  return [
    ['Ratio', formatRatio(ratio), ratio === null ? 'nothing downloaded' : undefined],
    ['Uploaded', formatBytes(uploaded), differing(uploaded, uploadedActual)],
    ['Downloaded', formatBytes(downloaded), differing(downloaded, downloadedActual)],
  ]
}

function activityOf({
  seeding,
  leeching = 0,
  completed = 0,
  seedSeconds = 0,
  torrents = 0,
}: UserStats): readonly Entry[] {
  if (seeding === undefined) return []
  return [
    ['Seeding', formatCount(seeding)],
    ['Leeching', formatCount(leeching)],
    ['Seed time', formatDuration(seedSeconds)],
    ['Snatched', formatCount(completed)],
    ['Own uploads', formatCount(torrents)],
  ]
}

function differing(credited: number, actual: number): string | undefined {
  return credited === actual ? undefined : `${formatBytes(actual)} transferred`
}
