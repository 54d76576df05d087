/** A time as an input of the type `datetime-local` has it: the reader's clock, to the minute. */
export function toLocalInput(time: string | undefined): string {
  if (time === undefined) return ''
  const date = new Date(time)
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

/** The time that such an input holds, as ISO 8601 in UTC; undefined where it is empty. */
export function fromLocalInput(value: string | undefined): string | undefined {
  const time = Date.parse(value ?? '')
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
