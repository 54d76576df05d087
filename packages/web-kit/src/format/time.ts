const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  [365 * DAY, 'y'],
  [30 * DAY, 'mo'],
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
] as const

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** An age in its largest unit: `3 h`. Under a minute, or in the future, it is `now`. */
export function formatAge(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1_000
  return greatest(seconds) ?? 'now'
}

/** A duration in its two largest units: `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const index = STEPS.findIndex(([size]) => seconds >= size)
  const step = STEPS[index]
  if (step === undefined) return `${Math.max(0, Math.floor(seconds))} s`
  const [size, unit] = step
  const rest = STEPS[index + 1]
  const first = `${Math.floor(seconds / size)} ${unit}`
  const remainder = rest === undefined ? 0 : Math.floor((seconds % size) / rest[0])
  return rest === undefined || remainder === 0 ? first : `${first} ${remainder} ${rest[1]}`
}

/** A date in the reader's time zone. */
export function formatDate(time: string): string {
  return day.format(new Date(time))
}

/** A moment in the reader's time zone, to the second. */
export function formatExactTime(time: string): string {
  return exact.format(new Date(time))
}

function greatest(seconds: number): string | undefined {
  const step = STEPS.find(([size]) => seconds >= size)
  return step && `${Math.floor(seconds / step[0])} ${step[1]}`
}
