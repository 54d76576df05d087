import { constants } from 'node:os'
import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `90s`, `5m`, `24h` or `7d`. Returns seconds. */
export function readDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,6})([smhd])?$/.exec(text) ?? []
  const seconds = Number(count) * (UNITS[unit] ?? Number.NaN)
  if (!(seconds > 0)) throw new InvalidArgumentError('Use a duration such as 30s, 5m, 24h or 7d.')
  return seconds
}

/** Collects names that are separated by spaces or commas; no name contains one. */
export function readNames(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...text.split(',').filter((name) => name !== '')]
}

export function durationText(seconds: number): string {
  if (seconds < 120) return `${String(Math.max(0, Math.round(seconds)))} s`
  if (seconds < 7200) return `${String(Math.round(seconds / 60))} min`
  return seconds < 172_800 ? `${String(Math.round(seconds / 3600))} h` : `${String(Math.round(seconds / 86_400))} days`
}

export function readSignal(text: string): NodeJS.Signals {
  const name = text.toUpperCase().replace(/^(SIG)?/, 'SIG')
  if (!(name in constants.signals)) throw new InvalidArgumentError('Use a signal such as SIGHUP or USR1.')
  return name as NodeJS.Signals
}

export function readCount(text: string): number {
  if (!/^([1-9]\d{0,2}|1000)$/.test(text)) throw new InvalidArgumentError('Use a number from 1 to 1000.')
  return Number(text)
}

/** Parses the name of a Kubernetes object, which is a DNS subdomain (RFC 1123). */
export function readObjectName(text: string): string {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
  if (text.length > 253 || !new RegExp(`^${label}(\\.${label})*$`).test(text))
    throw new InvalidArgumentError('Use a name such as shop-secrets: lowercase letters, digits, - and . inside.')
  return text
}

/** Parses the overlap of two keys in seconds. */
export function readOverlap(text: string): number {
  const seconds = text === '0' ? 0 : readDuration(text)
  if (seconds > 600) throw new InvalidArgumentError('Use 0, or a duration of at most 10m.')
  return seconds
}

/** @throws InvalidArgumentError if an option is used twice, because only one of the values can be intended */
function once<T>(read: (text: string) => T): (text: string, previous: T | undefined) => T {
  return (text, previous) => {
    if (previous !== undefined) throw new InvalidArgumentError('Use this flag only once.')
    return read(text)
  }
}

export function isEnvironment(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)
}

export const readEnvironment = once((text) => {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  if (!isEnvironment(text))
    throw new InvalidArgumentError(
      'Use 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    )
  return text
})

/** Parses non-empty text of an option that may appear once. */
export const readText = once((text) => {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
})

/** Collects the values of an option that may appear several times. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  if (value === '') throw new InvalidArgumentError('It must not be empty.')
  return [...previous, value]
}

/** Parses a date, or a duration before now. Returns ISO 8601. */
export function readSince(text: string): string {
  return readTime(text, -1000)
}

/** Parses a date, or a duration from now. Returns ISO 8601. */
export const readExpiry = once((text) => readTime(text, 1000))

/** @param unitMs the milliseconds of a second, negative before now */
function readTime(text: string, unitMs: number): string {
  const time = /^\d{1,6}[smhd]?$/.test(text) ? Date.now() + readDuration(text) * unitMs : Date.parse(text)
  if (Number.isNaN(time))
    throw new InvalidArgumentError('Use a duration such as 24h, or a time such as 2026-01-31T12:00Z.')
  return new Date(time).toISOString()
}

/** Parses the length of a generated value. */
export function readLength(text: string): number {
  const length = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (length < 8 || length > 4096) throw new InvalidArgumentError('Use a number from 8 to 4096.')
  return length
}

/** Parses a number of days. */
export function readDays(text: string): string {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Use a number from 0 to 9999.')
  return text
}
