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

/**
 * Parts of a subject whose next part names an owner: of GitHub and Forgejo (also subjects with other claims), GitLab, and
 * Kubernetes (`system:serviceaccount:NAMESPACE:NAME`).
 */
const OWNER_LABELS: ReadonlySet<string> = new Set([
  ...['repo', 'repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'workflow_ref'],
  ...['enterprise', 'enterprise_id', 'project_path', 'project_id', 'namespace_path', 'namespace_id', 'serviceaccount'],
])

/** Parts of the same subjects that every owner can have, with what follows. A reusable workflow can be called by anyone. */
const OTHER_LABELS: ReadonlySet<string> = new Set([
  ...['ref', 'ref_type', 'ref_protected', 'head_ref', 'base_ref', 'sha', 'environment', 'environment_node_id'],
  ...['pull_request', 'event_name', 'runner_environment', 'repository_visibility', 'actor', 'actor_id', 'context'],
  ...['run_id', 'run_number', 'run_attempt', 'check_run_id', 'workflow', 'workflow_sha', 'issuer_scope'],
  ...['job_workflow_ref', 'job_workflow_sha', 'user_login', 'user_id', 'user_email', 'pipeline_source', 'system'],
])

const SEPARATORS = /[:/|]/
/** Alone, it identifies an owner: `{UUID}:*` are the steps of a repository on Bitbucket. */
const UUID = /^\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/i

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
 * before its first `*`, as in `repo:octo-org/*`. `repo:octo*` would also match other owners, `ref:refs/heads/main` all.
 *
 * @returns undefined if the patterns can be used
 */
export function patternsProblem(patterns: ClaimPatterns): string | undefined {
  const names = Object.keys(patterns)
  if (names.some((name) => /^\/[^/]*$/.test(name)))
    return 'must name a claim that is not nested without a slash, as in repository'
  if (names.some((name) => RESERVED.includes(name)))
    return `must not include ${RESERVED.join(', ')}, which are checked separately`
  if (Object.hasOwn(patterns, 'sub') && /^\*+$/.test(patterns['sub'] ?? ''))
    return 'must not accept every subject; name an owner, as in repo:octo-org/*'
  if (names.some((name) => IDENTITIES.includes(name) && namesOwner(name, patterns[name] ?? ''))) return undefined
  return 'must identify an owner, as in sub=repo:octo-org/* or repository=octo-org/shop, with its full name before the first *; a branch or an environment alone is not enough'
}

/** Whether a pattern names an owner with what comes before its first `*`. */
function namesOwner(name: string, pattern: string): boolean {
  const wildcard = pattern.indexOf('*')
  const isExact = wildcard === -1
  const fixed = isExact ? pattern : pattern.slice(0, wildcard)
  const parts = fixed.split(SEPARATORS)
  // The last part continues behind the wildcard.
  const complete = (isExact ? parts : parts.slice(0, -1)).filter((part) => part !== '')
  if (name !== 'sub') return complete.length > 0
  const isLabelled = complete.some((part) => OWNER_LABELS.has(part) || OTHER_LABELS.has(part))
  if (isLabelled) return namesLabelledOwner(fixed.split(':'), isExact)
  // On other platforms, a label and its value.
  return complete.length > (isExact ? 0 : 1) || complete.some((part) => UUID.test(part))
}

/** @param segments labels and values in any order */
function namesLabelledOwner(segments: readonly string[], isExact: boolean): boolean {
  for (let i = 0; i < segments.length; i++) {
    const value = segments[i + 1] ?? ''
    const isComplete = isExact || i + 2 < segments.length || value.includes('/')
    if (OWNER_LABELS.has(segments[i] ?? '') && isComplete && /[^/]/.test(value)) return true
    // A branch or an environment may have the name of a label.
    if (OTHER_LABELS.has(segments[i] ?? '') && segments[i] !== 'system') i += 1
  }
  return false
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
