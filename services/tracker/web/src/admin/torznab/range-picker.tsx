import { useNavigate } from '@tanstack/react-router'
import { Button, TextField } from '@vault-and-tracker/web-kit/form'
import { Ranges } from '@vault-and-tracker/web-kit/layout'
import { formText } from './form-text.ts'
import { fromLocalInput, toLocalInput } from './local-time.ts'
import { RANGES, type TorznabSearch } from './search.ts'

const LABELS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', all: 'All' } as const

/** Which time the statistics are of; it is in the address. */
export function RangePicker({ search }: { search: TorznabSearch }) {
  const { range = '24h', from, to } = search
  const isOwn = from !== undefined || to !== undefined
  return (
    <div className="range-picker">
      <Ranges
        label="Range"
        tabs={RANGES.map((each) => [each, LABELS[each]] as const)}
        current={isOwn ? undefined : range}
        initial="24h"
        without={['from', 'to']}
      />
      <OwnRange key={`${from} ${to}`} from={from} to={to} isOwn={isOwn} />
    </div>
  )
}

function OwnRange({ from, to, isOwn }: { from: string | undefined; to: string | undefined; isOwn: boolean }) {
  const navigate = useNavigate()
  return (
    <details className="own-range" open={isOwn}>
      <summary>Other range</summary>
      <form
        className="own-range-form"
        aria-label="Other range"
        onSubmit={(event) => {
          event.preventDefault()
          const data = new FormData(event.currentTarget)
          const timeOf = (name: string): string | undefined => fromLocalInput(formText(data, name))
          void navigate({ to: '/admin/torznab', search: { from: timeOf('from'), to: timeOf('to') } })
        }}
      >
        <TextField label="From" name="from" type="datetime-local" defaultValue={toLocalInput(from)} />
        <TextField label="To" name="to" type="datetime-local" defaultValue={toLocalInput(to)} />
        <Button type="submit">Show</Button>
      </form>
    </details>
  )
}
