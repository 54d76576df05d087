import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextField } from '@vault-and-tracker/web-kit/form'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { NoSuchPage, Pages, totalText } from '@vault-and-tracker/web-kit/table'
import '../manage.css'
import { AddressTable } from './address-table.tsx'
import { userAddresses } from './queries.ts'
import { type AddressSearch, readAddressSearch } from './search.ts'

const route = getRouteApi('/admin/users/addresses')

/** The users of an address, or the addresses of a user. */
export function AddressesPage() {
  const search = route.useSearch()
  const { user, address } = search
  const isAsked = user !== undefined || address !== undefined
  return (
    <>
      <PageHead title="Addresses">
        <p className="muted">Where users were seen. IPv6 addresses are grouped by /64.</p>
      </PageHead>
      <Filters key={`${user} ${address}`} search={search} />
      {isAsked ? <Results search={search} /> : <Empty title="Enter an address or a user." />}
    </>
  )
}

function Filters({ search }: { search: AddressSearch }) {
  const navigate = route.useNavigate()
  return (
    <form
      className="manage-filters"
      role="search"
      aria-label="Addresses"
      onSubmit={(event) => {
        event.preventDefault()
        void navigate({ search: readAddressSearch(Object.fromEntries(new FormData(event.currentTarget))) })
      }}
    >
      <TextField label="Address" name="address" maxLength={50} autoComplete="off" defaultValue={search.address} />
      <TextField label="User" name="user" maxLength={64} autoComplete="off" defaultValue={search.user} />
      <Button type="submit">Show</Button>
    </form>
  )
}

function Results({ search }: { search: AddressSearch }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userAddresses(search))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={10} label="Loading addresses…" />
  if (data.items.length === 0 && data.page > 1) return <NoSuchPage list={data} />
  if (data.items.length === 0) return <Empty title="No users seen at this address." />
  return (
    <>
      <p className="muted" role="status">
        {totalText(data, 'result')} ·{' '}
        <Link to="/admin/torznab" search={{ tab: 'requests', user: search.user, address: search.address }}>
          Torznab requests
        </Link>
      </p>
      <AddressTable rows={data.items} now={dataUpdatedAt} withUser />
      <Pages list={data} />
    </>
  )
}
