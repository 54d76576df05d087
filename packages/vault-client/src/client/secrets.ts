import { VaultError } from './errors.ts'

/** The secrets of an environment, by key. It has no prototype: a secret named `__proto__` is a member like any other. */
export type Secrets = Record<string, string>

/** What differs between two readings of an environment, keys in order. */
export type Changes = {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** @throws VaultError `invalid_answer` when it is not a map of texts */
export function readSecrets(body: unknown): Secrets {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notSecrets()
  const secrets = copySecrets({})
  for (const [key, value] of Object.entries(body)) {
    if (typeof value !== 'string') throw notSecrets()
    secrets[key] = value
  }
  return secrets
}

function notSecrets(): VaultError {
  return new VaultError('invalid_answer', 'the response of the vault is not a map of secrets')
}

/** A copy that its owner may change. */
export function copySecrets(secrets: Readonly<Secrets>): Secrets {
  return Object.assign(Object.create(null) as Secrets, secrets)
}

/** What is different after a time. */
export function changesBetween(before: Readonly<Secrets>, after: Readonly<Secrets>): Changes {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return {
    added: keys.filter((key) => !(key in before)),
    changed: keys.filter((key) => key in before && key in after && before[key] !== after[key]),
    removed: keys.filter((key) => !(key in after)),
  }
}

export function isUnchanged({ added, changed, removed }: Changes): boolean {
  return added.length + changed.length + removed.length === 0
}
