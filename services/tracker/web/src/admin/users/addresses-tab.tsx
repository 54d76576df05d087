import { useQuery } from '@tanstack/react-query'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { AddressTable } from './address-table.tsx'
import { userAddresses } from './queries.ts'

export function AddressesTab({ user }: { user: { readonly id: string; readonly username: string } }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userAddresses({ user: user.id }))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading addresses…" />
  if (data.items.length === 0) return <Empty title={`No recent requests of ${user.username}.`} />
  return <AddressTable rows={data.items} now={dataUpdatedAt} withUser={false} />
}
