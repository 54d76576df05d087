/** A time as inputs of the type `datetime-local` expect it: to the minute, in the reader's time zone. */
export function toLocalInput(time: string | null | undefined): string {
  if (time === undefined || time === null) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
