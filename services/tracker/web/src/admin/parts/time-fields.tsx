import { TextField } from '@vault-and-tracker/web-kit/form'

/** The ends of a range, in the reader's time zone. */
export function TimeFields({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  return (
    <>
      <TextField label="From" name="from" type="datetime-local" defaultValue={toLocalInput(from)} />
      <TextField label="To" name="to" type="datetime-local" defaultValue={toLocalInput(to)} />
    </>
  )
}

/** A time as inputs of the type `datetime-local` expect it: to the minute, in the reader's time zone. */
export function toLocalInput(time: string | null | undefined): string {
  if (time === undefined || time === null) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
