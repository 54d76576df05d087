/**
 * Patterns for the claims of an ID token, by name. A name that starts with a slash is a JSON Pointer (RFC 6901) to a nested
 * claim, because names such as `kubernetes.io` contain dots.
 */
export type ClaimPatterns = Readonly<Record<string, string>>

/** The claims of an ID token. */
export type Claims = Readonly<Record<string, unknown>>

/** Claims that a rule checks separately. */
const RESERVED: readonly string[] = ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']

/** Claims that name a repository, a project, a namespace or their owner, or a workload. */
const IDENTITIES: readonly string[] = [
  'sub',
  ...['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
  ...['project_path', 'project_id', 'namespace_path', 'namespace_id'],
  ...['/kubernetes.io/namespace', '/kubernetes.io/serviceaccount/uid'],
]

/** Parts of a subject that introduce the next part and name no owner. */
const LABELS: ReadonlySet<string> = new Set([
  ...['repo', 'repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'org', 'organization', 'user'],
  ...['project_path', 'project_id', 'namespace_path', 'namespace_id', 'group', 'system', 'serviceaccount'],
  ...['ref', 'ref_type', 'branch', 'environment', 'job_workflow_ref', 'workflow_ref', 'actor'],
  ...['http', 'https', 'spiffe'],
])

/** Whether every pattern matches its claim. */
export function matchesClaims(patterns: ClaimPatterns, claims: Claims): boolean {
  return Object.entries(patterns).every(([name, pattern]) => {
    const text = textOf(claimOf(claims, name))
    return text !== undefined && matchesPattern(pattern, text)
  })
}

/** Whether a text matches a pattern, in which `*` stands for any characters, or none. Takes linear time for a pattern. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/**
 * Explains why these patterns would trust too many. At least one has to name an owner: exactly, or with complete parts
 * before its first `*`, as in `repo:octo-org/*`. `repo:octo*` would also match other owners.
 *
 * @returns undefined if the patterns can be used
 */
export function patternsProblem(patterns: ClaimPatterns): string | undefined {
  const names = Object.keys(patterns)
  if (names.some((name) => RESERVED.includes(name)))
    return `must not include ${RESERVED.join(', ')}, which are checked separately`
  if (Object.hasOwn(patterns, 'sub') && /^\*+$/.test(patterns['sub'] ?? ''))
    return 'must not accept every subject; name an owner, as in repo:octo-org/*'
  if (names.some((name) => IDENTITIES.includes(name) && namesOwner(patterns[name] ?? ''))) return undefined
  return 'must name an owner: sub, or a claim such as repository, exactly or with complete parts before its first *, as in repo:octo-org/*'
}

function namesOwner(pattern: string): boolean {
  const wildcard = pattern.indexOf('*')
  if (wildcard === -1) return pattern !== ''
  const complete = pattern.slice(0, wildcard).split(/[:/|]/).slice(0, -1)
  return complete.some((part) => part !== '' && !LABELS.has(part))
}

/** Returns a claim by its name, or by a JSON Pointer. Only own members of objects are claims. */
export function claimOf(claims: Claims, name: string): unknown {
  const path = name.startsWith('/') ? name.slice(1).split('/').map(unescape) : [name]
  let value: unknown = claims
  for (const part of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined
    value = (value as Claims)[part]
  }
  return value
}

/** A part of a JSON Pointer. */
function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}
