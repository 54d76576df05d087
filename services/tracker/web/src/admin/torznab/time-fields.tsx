import { TextField } from '@vault-and-tracker/web-kit/form'
import { toLocalInput } from '../parts/local-time.ts'
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
