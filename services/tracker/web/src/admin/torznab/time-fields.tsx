import { TextField } from '@vault-and-tracker/web-kit/form'

type Range = { readonly from?: string | undefined; readonly to?: string | undefined }

/** Two fields for a range of times, in the reader's time zone. */
export function TimeFields({ from, to }: Range) {
  return (
    <>
      <TextField label="From" name="from" type="datetime-local" defaultValue={toLocalInput(from)} />
      <TextField label="To" name="to" type="datetime-local" defaultValue={toLocalInput(to)} />
    </>
  )
}

/** The text of a field; undefined if it is empty. */
export function textIn(form: FormData, name: string): string | undefined {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() || undefined : undefined
}

/** The range of {@link TimeFields}, ISO 8601 in UTC. */
export function rangeIn(form: FormData): Range {
  const timeOf = (name: string): string | undefined => {
    const time = Date.parse(textIn(form, name) ?? '')
    return Number.isNaN(time) ? undefined : new Date(time).toISOString()
  }
  return { from: timeOf('from'), to: timeOf('to') }
}

/** To the minute, as inputs of the type `datetime-local` expect it. */
function toLocalInput(time: string | undefined): string {
  if (time === undefined) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
