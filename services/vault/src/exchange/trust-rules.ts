import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Editor } from '../access/administrator.ts'
import { DEFAULT_KEY, PROJECT_NAME } from '../access/names.ts'
import type { Scope } from '../access/project-caller.ts'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { AuthenticRows, Sealed, TrustRuleRow } from '../integrity/rows.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { type ClaimPatterns, patternsProblem } from './claim-patterns.ts'

/** Whom a project trusts. */
export type TrustRule = Omit<TrustRuleRow, 'claims'> & { readonly claims: ClaimPatterns }

/** A rule with the name of its project. */
export type RuleOfProject = TrustRule & { readonly project: string; readonly code: Buffer }

/** The rules that an ID token may match: those of an issuer, or some of them. */
export type WantedRules = {
  readonly issuer: string
  readonly algorithm: string
  readonly audiences?: readonly string[] | undefined
  readonly project?: string | undefined
  readonly name?: string | undefined
}

/** How many rules there may be. */
export type RuleLimits = { readonly perProject: number; readonly total: number }

/** Trust rules. Every writing method is one transaction, together with its audit entry. */
export type TrustRuleStore = {
  /** The rules of a project in the order in which they were added; undefined if it does not exist. */
  listOf(project: string): Promise<readonly Sealed<TrustRuleRow>[] | undefined>
  /** Rules for an issuer, first those that allow the algorithm. */
  ofIssuer(
    wanted: WantedRules,
    limit: number,
  ): Promise<readonly (Sealed<TrustRuleRow> & { readonly project: string })[]>
  /**
   * Adds a rule to a project. `seal` completes it with the uid of the project.
   *
   * @throws ApiError trust_rule_exists
   */
  add(
    project: string,
    by: Editor,
    limits: RuleLimits,
    seal: (projectUid: string) => Sealed<TrustRuleRow>,
    entry: NewEntry,
  ): Promise<'added' | 'no project' | 'project is full' | 'vault is full'>
  /** Removes a rule and its keys. */
  remove(
    project: string,
    by: Editor,
    id: string,
    entryFor: (rule: { name: string; keys: number }) => NewEntry,
  ): Promise<boolean>
}

/** Asymmetric algorithms (RFC 7518 section 3.1, RFC 8037, RFC 9864) that a rule may allow. */
export const ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** The longest life of an exchanged key, in minutes. */
export const MAX_MINUTES = 60

const LIMITS: RuleLimits = { perProject: 50, total: 1_000 }

const MAX_URL_LENGTH = 300
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** The trust rules of the vault. */
export type TrustRules = ReturnType<typeof createTrustRules>

/**
 * Creates the use cases of trust rules.
 *
 * @param deps `allowLoopback` accepts issuers with `http://` on this machine
 */
export function createTrustRules(deps: {
  store: TrustRuleStore
  rows: Pick<AuthenticRows, 'trustRules'>
  inTurn: OwnerTurns
  clock: Clock
  allowLoopback: boolean
}) {
  const { store, rows, inTurn, clock, allowLoopback } = deps

  function requireUsable(name: string, issuer: string, claims: ClaimPatterns): void {
    if (name === DEFAULT_KEY)
      throw apiError('invalid_request', `name: ${DEFAULT_KEY} is the first key of the project; choose another name.`)
    if (!isIssuerUrl(issuer, allowLoopback))
      throw apiError('invalid_request', 'issuer: must be an https:// URL without a query.')
    const problem = patternsProblem(claims)
    if (problem !== undefined) throw apiError('invalid_request', `claims: ${problem}.`)
  }

  return {
    /** Returns the rules of a project. @throws ApiError not_found */
    listOf: async (project: string): Promise<readonly TrustRule[]> => {
      const listed = PROJECT_NAME.test(project) ? await store.listOf(project) : undefined
      if (listed === undefined) throw noSuch('project')
      return listed.filter(rows.trustRules.accept).map(toRule)
    },

    /**
     * Returns one rule, which allows the algorithm if any does: a token that does not verify costs no more.
     *
     * @param wanted any text, even one that Postgres may not be able to compare
     */
    find: async (wanted: WantedRules): Promise<RuleOfProject | undefined> => {
      if (!isIssuerUrl(wanted.issuer, allowLoopback)) return undefined
      const [first] = await store.ofIssuer(wanted, 1)
      if (first === undefined || rows.trustRules.accept(first)) return first && toRule(first)
      const authentic = (await store.ofIssuer(wanted, LIMITS.total)).find(rows.trustRules.isAuthentic)
      return authentic && toRule(authentic)
    },

    /** Returns all these rules. */
    findAll: async (wanted: WantedRules): Promise<readonly RuleOfProject[]> =>
      (await store.ofIssuer(wanted, LIMITS.total)).filter(rows.trustRules.accept).map(toRule),

    /**
     * Adds a rule.
     *
     * @returns its id
     * @throws ApiError invalid_request, not_found, trust_rule_exists, too_many_trust_rules
     */
    add: async (input: {
      project: string
      name: string
      issuer: string
      audience: string
      algorithms: readonly Algorithm[]
      claims: ClaimPatterns
      scope: Scope
      minutes: number
      by: Editor
    }): Promise<string> => {
      const { project, claims, by, ...rest } = input
      const { name, issuer, audience, scope, minutes } = rest
      requireUsable(name, issuer, claims)
      const id = newId()
      const createdAt = new Date(clock.now())
      const patterns = Object.entries(claims)
      const seal = (projectUid: string) =>
        rows.trustRules.seal({ ...rest, id, projectUid, claims: patterns.flat(), createdAt })
      const entry = newEntry(clock, {
        action: 'trust-rule.create',
        by,
        detail: {
          ...{ rule: id, name, issuer, audience, minutes, access: scope.access, envs: scope.envs?.join(',') ?? null },
          algorithms: rest.algorithms.join(','),
          claims: patterns.map((each) => each.join('=')).join(', '),
        },
      })
      const turn = { owner: by.actor, project, wanted: by.wanted }
      const outcome = await inTurn(turn, () => store.add(project, by, LIMITS, seal, entry))
      if (outcome === 'no project') throw noSuch('project')
      if (outcome === 'project is full')
        throw apiError('too_many_trust_rules', `The project already has ${String(LIMITS.perProject)} trust rules.`)
      if (outcome === 'vault is full')
        throw apiError('too_many_trust_rules', `The vault already has ${String(LIMITS.total)} trust rules.`)
      return id
    },

    /** Removes a rule. Its keys stop working immediately, at all replicas. @throws ApiError not_found */
    remove: async (project: string, id: string, by: Editor): Promise<void> => {
      const entryFor = ({ name, keys }: { name: string; keys: number }) =>
        newEntry(clock, { action: 'trust-rule.delete', by, detail: { rule: id, name, keys } })
      const turn = { owner: by.actor, project, wanted: by.wanted }
      const isRemoved =
        PROJECT_NAME.test(project) && isId(id) && (await inTurn(turn, () => store.remove(project, by, id, entryFor)))
      if (!isRemoved) throw noSuch('trust rule')
    },
  }
}

function toRule<Row extends TrustRuleRow>(row: Row): Omit<Row, 'claims'> & { readonly claims: ClaimPatterns } {
  const names = row.claims.filter((_text, i) => i % 2 === 0)
  return { ...row, claims: Object.fromEntries(names.map((name, i) => [name, row.claims[2 * i + 1] ?? ''])) }
}

/** Whether a URL is that of an issuer, which has no query (OpenID Connect Discovery 1.0 section 3). */
export function isIssuerUrl(text: string, allowLoopback: boolean): boolean {
  return !text.includes('?') && mayFetch(text, allowLoopback)
}

/**
 * Whether the vault may fetch from a URL that an administrator or an issuer named. Addresses in private networks are
 * accepted: that is where self-hosted issuers are.
 */
export function mayFetch(text: string, allowLoopback: boolean): boolean {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username + password !== '' || /[#\s\p{Cc}]/u.test(text)) return false
  return protocol === 'https:' || (protocol === 'http:' && allowLoopback && LOOPBACK.includes(hostname))
}
