import { Link } from '@tanstack/react-router'
import { formatCount, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import type { Overview } from '../../api/client.ts'
import type { Section } from '../sections.ts'

type TorznabPart = { readonly tab: 'requests' | 'blocks'; readonly error?: 'true' }

type Entry = {
  readonly label: string
  readonly value: number
  readonly note: string
  /** The page with the details, linked for those who may open it. */
  readonly section: string
  readonly torznab?: TorznabPart
  readonly isUrgent?: boolean
}

export function OverviewNumbers({ overview, sections }: { overview: Overview; sections: readonly Section[] }) {
  const figures = entriesOf(overview).map((entry) => ({
    label: entry.label,
    value: formatCount(entry.value),
    note: entry.note,
    link: <Label entry={entry} page={sections.find(({ to }) => to === `/admin/${entry.section}`)} />,
    isUrgent: entry.isUrgent === true,
  }))
  return <Numbers figures={figures} />
}

function Label({ entry: { label, torznab }, page }: { entry: Entry; page: Section | undefined }) {
  if (page === undefined) return label
  if (torznab === undefined) return <Link to={page.to}>{label}</Link>
  return (
    <Link to="/admin/torznab" search={torznab}>
      {label}
    </Link>
  )
}

function entriesOf(found: Overview): readonly Entry[] {
  const { pending, torrents, members, activeMembers, swarms, seeders, leechers, announces, refused } = found
  const { blockedAddresses, blockedMembers, torznab } = found
  return [
    {
      label: 'Awaiting approval',
      value: pending,
      note: pending === 0 ? 'queue is empty' : 'uploads to review',
      section: 'moderation',
      isUrgent: pending > 0,
    },
    {
      label: 'Members',
      value: members,
      note: `${formatCount(activeMembers)} active in the last 24 hours`,
      section: 'users',
    },
    { label: 'Torrents', value: torrents, note: `${formatCount(swarms)} with peers`, section: 'swarms' },
    {
      label: 'Peers',
      value: seeders + leechers,
      note: `${formatNumberOf(seeders, 'seeder')}, ${formatNumberOf(leechers, 'leecher')}`,
      section: 'swarms',
    },
    { label: 'Announces per second', value: announces, note: `${formatCount(refused)} refused`, section: 'swarms' },
    { label: 'Torznab requests', value: torznab.requests, note: 'last 24 hours', section: 'torznab' },
    {
      label: 'Torznab errors',
      value: torznab.errors,
      note:
        torznab.requests === 0
          ? 'no requests'
          : `${((100 * torznab.errors) / torznab.requests).toFixed(1)} % of requests`,
      section: 'torznab',
      torznab: { tab: 'requests', error: 'true' },
    },
    {
      label: 'Blocked addresses',
      value: blockedAddresses,
      note: `and ${formatNumberOf(blockedMembers, 'member')}`,
      section: 'torznab',
      torznab: { tab: 'blocks' },
    },
  ]
}
