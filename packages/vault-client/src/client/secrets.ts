import { VaultError } from './errors.ts'

/** The secrets of an environment by key. The object has no prototype, so a secret can be named `__proto__`. */
export type Secrets = Record<string, string>

/** The keys that differ between two reads of an environment, sorted. */
export type Changes = {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** @throws VaultError `invalid_answer` if the body is not an object of strings */
export function readSecrets(body: unknown): Secrets {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notSecrets()
  const secrets = copySecrets({})
  for (const [key, value] of Object.entries(body)) {
    if (typeof value !== 'string') throw notSecrets()
    secrets[key] = value
  }
  return secrets
}

/** The secrets of an environment at a version; undefined if they have not changed since the version that was asked for. */
export type SecretsAtVersion = { readonly version: string; readonly secrets: Secrets | undefined }

/** Reads the response of `/v1/secrets/changes`. @throws VaultError `invalid_answer` */
export function readChanges(body: unknown): SecretsAtVersion {
  if (typeof body !== 'object' || body === null || !('version' in body) || typeof body.version !== 'string')
    throw notSecrets()
  return { version: body.version, secrets: 'values' in body ? readSecrets(body.values) : undefined }
}

function notSecrets(): VaultError {
  return new VaultError('invalid_answer', 'the response of the vault is not a map of secrets')
}

export function copySecrets(secrets: Readonly<Secrets>): Secrets {
  return Object.assign(Object.create(null) as Secrets, secrets)
}

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
