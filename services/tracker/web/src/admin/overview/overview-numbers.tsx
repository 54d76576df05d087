import { Link } from '@tanstack/react-router'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import type { Overview } from '../../api/client.ts'
import type { Section } from '../sections.ts'

type TorznabPart = { readonly tab: 'requests' | 'blocks'; readonly error?: 'true' }

type Entry = {
  readonly label: string
  readonly value: number
  readonly note: string
  /** The page behind the number, for those who may open it. */
  readonly section: string
  /** The part of the Torznab panel that has it. */
  readonly torznab?: TorznabPart
  /** Somebody has to do something. */
  readonly isUrgent?: boolean
}

/** The numbers that staff look at first, each a link to where it comes from. */
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
      label: 'Waiting for approval',
      value: pending,
      note: pending === 0 ? 'nothing to do' : 'uploads to look at',
      section: 'moderation',
      isUrgent: pending > 0,
    },
    { label: 'Members', value: members, note: `${formatCount(activeMembers)} active in 24 hours`, section: 'users' },
    { label: 'Torrents', value: torrents, note: `${formatCount(swarms)} with peers`, section: 'swarms' },
    {
      label: 'Peers',
      value: seeders + leechers,
      note: `${formatCount(seeders)} seed, ${formatCount(leechers)} leech`,
      section: 'swarms',
    },
    { label: 'Announces a second', value: announces, note: `${formatCount(refused)} refused`, section: 'swarms' },
    { label: 'Torznab requests', value: torznab.requests, note: 'in 24 hours', section: 'torznab' },
    {
      label: 'Torznab errors',
      value: torznab.errors,
      note:
        torznab.requests === 0 ? 'no requests' : `${((100 * torznab.errors) / torznab.requests).toFixed(1)} % of them`,
      section: 'torznab',
      torznab: { tab: 'requests', error: 'true' },
    },
    {
      label: 'Blocked addresses',
      value: blockedAddresses,
      note: `and ${formatCount(blockedMembers)} ${blockedMembers === 1 ? 'member' : 'members'}`,
      section: 'torznab',
      torznab: { tab: 'blocks' },
    },
  ]
}
