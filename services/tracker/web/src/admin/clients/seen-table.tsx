import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatDate } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useMemo } from 'react'
import type { ClientRule, Clients } from '../../api/client.ts'
import { RemoveRule } from './remove-rule.tsx'

type Seen = Clients['clients'][number]

/** The clients of the last 30 days, each with buttons that start a rule about its version. */
export function SeenTable(props: { clients: readonly Seen[]; onRule: (draft: ClientRule) => void }) {
  const { clients, onRule } = props
  const columns = useMemo(() => columnsFor(onRule), [onRule])
  return (
    <Table caption="Clients of the last 30 days" columns={columns} rows={clients} rowKey={({ client }) => client} />
  )
}

function columnsFor(onRule: (draft: ClientRule) => void): readonly Column<Seen>[] {
  return [
    { head: 'Client', isMain: true, cell: nameText },
    { head: 'Peer ID', cell: ({ client }) => <code>{client}</code> },
    { head: 'Share', align: 'end', isEvident: true, cell: ({ share }) => shareText(share) },
    { head: 'Peers a day', align: 'end', cell: ({ peers }) => formatCount(peers) },
    { head: 'Users', align: 'end', cell: ({ users }) => formatCount(users) },
    { head: 'Last seen', align: 'end', cell: ({ lastSeen }) => formatDate(lastSeen) },
    {
      head: 'Access',
      isEvident: true,
      cell: ({ isAllowed }) =>
        isAllowed ? (
          'Allowed'
        ) : (
          <span className="tag" data-tone="bad">
            Denied
          </span>
        ),
    },
    {
      head: 'Actions',
      isEvident: true,
      cell: (seen) => <Action seen={seen} onRule={onRule} />,
    },
  ]
}

/** Allowing a client means removing the rule that denies it, if there is one. */
function Action({ seen, onRule }: { seen: Seen; onRule: (draft: ClientRule) => void }) {
  const { prefix, version, isAllowed, rule } = seen
  const verb = isAllowed ? 'Deny' : 'Allow'
  const label = `${verb} ${nameText(seen)}`
  if (!isAllowed && rule !== null)
    return (
      <RemoveRule rule={rule} label={label}>
        {verb}
      </RemoveRule>
    )
  const draft = { prefix, condition: version === null ? 'any' : 'is', version } as const
  return (
    <Button
      className="small"
      aria-label={label}
      onClick={() => onRule({ ...draft, verdict: isAllowed ? 'deny' : 'allow' })}
    >
      {verb}
    </Button>
  )
}

function nameText({ name, version }: Seen): string {
  return version === null ? name : `${name} ${version}`
}

function shareText(share: number): string {
  return share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`
}
