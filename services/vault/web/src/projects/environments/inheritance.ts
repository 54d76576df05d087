import type { Environment, SecretMetadata } from '../../api/types.ts'

/** An environment and those it inherits from, the nearest first. */
function levelsOf(env: string, environments: readonly Environment[]): readonly string[] {
  const levels = [env]
  for (let at = env; ; ) {
    const parent = environments.find((each) => each.env === at)?.parent
    if (typeof parent !== 'string' || levels.includes(parent)) return levels
    levels.push(parent)
    at = parent
  }
}

/** The secrets that a fetch of an environment returns, its own and inherited ones. */
export function effectiveSecrets(
  env: string,
  secrets: readonly SecretMetadata[],
  environments: readonly Environment[],
): readonly SecretMetadata[] {
  const byKey = new Map<string, SecretMetadata>()
  for (const level of levelsOf(env, environments).toReversed())
    for (const secret of secrets) if (secret.env === level) byKey.set(secret.key, secret)
  return [...byKey.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}
