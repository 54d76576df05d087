import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { type Figure, Numbers } from '@vault-and-tracker/web-kit/layout'
import type { UserStats } from '../api/client.ts'

/** The totals of a user that the reader may see. */
export function UserNumbers({ stats }: { stats: UserStats }) {
  return <Numbers figures={[...transfersOf(stats), ...activityOf(stats)]} />
}

function transfersOf(stats: UserStats): readonly Figure[] {
  const { uploaded = 0, downloaded = 0, uploadedActual = uploaded, downloadedActual = downloaded, ratio = null } = stats
  return [
    { label: 'Ratio', value: formatRatio(ratio), note: ratio === null ? 'nothing downloaded' : undefined },
    { label: 'Uploaded', value: formatBytes(uploaded), note: differing(uploaded, uploadedActual) },
    { label: 'Downloaded', value: formatBytes(downloaded), note: differing(downloaded, downloadedActual) },
  ]
}

function activityOf({
  seeding,
  leeching = 0,
  completed = 0,
  seedSeconds = 0,
  torrents = 0,
}: UserStats): readonly Figure[] {
  if (seeding === undefined) return []
  return [
    { label: 'Seeding', value: formatCount(seeding) },
    { label: 'Leeching', value: formatCount(leeching) },
    { label: 'Seed time', value: formatDuration(seedSeconds) },
    { label: 'Snatches', value: formatCount(completed) },
    { label: 'Uploads', value: formatCount(torrents) },
  ]
}

function differing(credited: number, actual: number): string | undefined {
  return credited === actual ? undefined : `${formatBytes(actual)} transferred`
}
