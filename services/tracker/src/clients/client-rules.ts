import type { PeerId } from '@vault-and-tracker/bencode-tracker'
import { nameOfPrefix, readClient } from './client-id.ts'

export const RULE_VERDICTS = ['allow', 'deny'] as const
export const RULE_CONDITIONS = ['any', 'below', 'is', 'from'] as const
/** The maximum number of rules: each announce is compared with all of them. */
export const MAX_RULES = 100
/** One to five numbers, from major to minor. */
export const VERSION = /^\d{1,3}(\.\d{1,3}){0,4}$/

/** A rule about the clients whose peer id starts with the prefix. */
export type ClientRule = {
  readonly verdict: (typeof RULE_VERDICTS)[number]
  /** 1 to 20 printable ASCII characters. */
  readonly prefix: string
  /** How the version of the client compares with that of the rule. A client without a version only matches `any`. */
  readonly condition: (typeof RULE_CONDITIONS)[number]
  /** Null exactly for `any`. */
  readonly version: string | null
}

/** Whether a client may announce, and the rule that decided it. */
export type ClientVerdict = { readonly isAllowed: boolean; readonly rule: ClientRule | undefined }

/** Rules in force. */
export type ClientRules = {
  verdict(peerId: PeerId): ClientVerdict
  /** The reason for refusing a client, for its user. */
  explain(peerId: PeerId): string
}

/**
 * Prepares rules: a matching `deny` refuses a client, and so does the absence of a matching `allow` if there is one for
 * any client.
 */
export function compileRules(rules: readonly ClientRule[]): ClientRules {
  const compiled = rules.map((rule) => ({ rule, prefix: toHex(rule.prefix), matches: versionTest(rule) }))
  const of = (verdict: ClientRule['verdict']) => compiled.filter(({ rule }) => rule.verdict === verdict)
  const [allowed, denied] = [of('allow'), of('deny')]
  const find = (among: typeof compiled, peerId: PeerId): ClientRule | undefined => {
    for (const { rule, prefix, matches } of among) if (peerId.startsWith(prefix) && matches(peerId)) return rule
    return undefined
  }
  const verdict = (peerId: PeerId): ClientVerdict => {
    if (rules.length === 0) return ALLOWED
    const denies = find(denied, peerId)
    if (denies !== undefined) return { isAllowed: false, rule: denies }
    const allows = find(allowed, peerId)
    return { isAllowed: allows !== undefined || allowed.length === 0, rule: allows }
  }
  return {
    verdict,
    explain: (peerId) => {
      const { rule } = verdict(peerId)
      const denies = rule === undefined ? '' : `${clientsText(rule)} cannot announce here`
      const allows = allowed.length === 0 ? '' : `use ${allowed.map((each) => clientsText(each.rule)).join(', ')}`
      return [denies, allows].filter((text) => text !== '').join('; ')
    },
  }
}

const ALLOWED: ClientVerdict = { isAllowed: true, rule: undefined }

/** The rules for lists of prefixes. */
export function rulesOfPrefixes(lists: { allowed: readonly string[]; denied: readonly string[] }): ClientRule[] {
  const rulesOf = (verdict: ClientRule['verdict'], prefixes: readonly string[]): ClientRule[] =>
    prefixes.map((prefix) => ({ verdict, prefix, condition: 'any', version: null }))
  return [...rulesOf('allow', lists.allowed), ...rulesOf('deny', lists.denied)]
}

/** A rule as text, such as `deny -qB below 4.5`. */
export function ruleText({ verdict, prefix, condition, version }: ClientRule): string {
  return [verdict, prefix, ...(version === null ? [] : [condition, version])].join(' ')
}

/** The rule of a text; undefined if it is not one. */
export function parseRule(text: string): ClientRule | undefined {
  const [verdictText, prefix = '', conditionText = 'any', version = null] = text.split(' ')
  const verdict = RULE_VERDICTS.find((each) => each === verdictText)
  const condition = RULE_CONDITIONS.find((each) => each === conditionText)
  return verdict && condition && { verdict, prefix, condition, version }
}

/** The clients of a rule, for users. */
function clientsText({ prefix, condition, version }: ClientRule): string {
  const name = nameOfPrefix(prefix)
  if (version === null) return name
  if (condition === 'below') return `${name} before ${version}`
  return condition === 'from' ? `${name} ${version} or later` : `${name} ${version}`
}

function versionTest({ condition, version }: ClientRule): (peerId: PeerId) => boolean {
  if (version === null) return () => true
  const wanted = version.split('.').map(Number)
  return (peerId) => {
    const found = readClient(peerId).version
    if (found === undefined) return false
    const order = compareVersions(found, wanted)
    if (condition === 'below') return order < 0
    return condition === 'from' ? order >= 0 : order === 0
  }
}

/** Missing numbers are zeros. */
function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function toHex(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex')
}
