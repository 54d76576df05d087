import type { ClientRule } from '../../api/client.ts'

export const VERDICTS = [
  ['deny', 'Deny'],
  ['allow', 'Allow'],
] as const
export const CONDITIONS = [
  ['any', 'Any version'],
  ['below', 'Versions before'],
  ['is', 'Exactly version'],
  ['from', 'This version or later'],
] as const

/** The versions of a rule as a phrase. */
export function versionsText({ condition, version }: ClientRule): string {
  if (condition === 'below') return `before ${version}`
  if (condition === 'from') return `${version} or later`
  return condition === 'is' ? `${version}` : 'any'
}

/** Identifies a rule. */
export function ruleKey({ verdict, prefix, condition, version }: ClientRule): string {
  return [verdict, prefix, condition, version].join(' ')
}
