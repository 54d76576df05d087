import { constants } from 'node:os'
import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds of `90s`, `5m`, `24h` or `7d`. */
export function readDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,6})([smhd])?$/.exec(text) ?? []
  const seconds = Number(count) * (UNITS[unit] ?? Number.NaN)
  if (!(seconds > 0)) throw new InvalidArgumentError('It is a time such as 30s, 5m, 24h or 7d.')
  return seconds
}

/** Seconds in words. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${String(Math.max(0, Math.round(seconds)))} s`
  if (seconds < 7200) return `${String(Math.round(seconds / 60))} min`
  return seconds < 172_800 ? `${String(Math.round(seconds / 3600))} h` : `${String(Math.round(seconds / 86_400))} days`
}

export function readSignal(text: string): NodeJS.Signals {
  const name = text.toUpperCase().replace(/^(SIG)?/, 'SIG')
  if (!(name in constants.signals)) throw new InvalidArgumentError('It is a signal such as SIGHUP or USR1.')
  return name as NodeJS.Signals
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It is a number from 1.')
  return Number(text)
}

/** The name of an object of Kubernetes: a DNS subdomain (RFC 1123). */
export function readObjectName(text: string): string {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
  if (text.length > 253 || !new RegExp(`^${label}(\\.${label})*$`).test(text))
    throw new InvalidArgumentError('It is a name such as shop-secrets: lower-case letters, digits, - and . inside.')
  return text
}

/** Seconds that keys overlap. */
export function readOverlap(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 600)
    throw new InvalidArgumentError('It is a number of seconds, 0 to 600.')
  return Number(text)
}
