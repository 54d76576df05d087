import { TextField } from '@vault-and-tracker/web-kit/form'
import type { TorznabSearch } from './search.ts'

/** The ends of a range, in the reader's time zone. */
export function TimeFields({ from, to }: Pick<TorznabSearch, 'from' | 'to'>) {
  return (
    <>
      <TextField label="From" name="from" type="datetime-local" defaultValue={toLocalInput(from)} />
      <TextField label="To" name="to" type="datetime-local" defaultValue={toLocalInput(to)} />
    </>
  )
}

/** To the minute, as inputs of the type `datetime-local` expect it. */
function toLocalInput(time: string | undefined): string {
  if (time === undefined) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
