import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { SelectField, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import type { ProjectKey } from '../api/types.ts'
import { type NewKeyPair, newKeyPair } from './new-key-pair.ts'

type Access = ProjectKey['scope']['access']

const ACCESSES: readonly (readonly [Access, string])[] = [
  ['read-write', 'Read and write'],
  ['read', 'Read only'],
  ['write', 'Write only'],
]

/** The names of the fields in `KeyFields`. */
export const KEY_FIELDS = ['publicKey', 'access', 'envs'] as const

/** The source and the scope of a key. `scope` is the initial choice. */
export function KeyFields({ scope, error }: { scope: ProjectKey['scope'] | undefined; error: ApiError | null }) {
  const [isOwn, setOwn] = useState(false)
  return (
    <>
      <fieldset className="choices">
        <legend>Key</legend>
        <label className="switch">
          <input type="radio" name="source" value="made" checked={!isOwn} onChange={() => setOwn(false)} />
          Generate a key pair in this browser
        </label>
        <label className="switch">
          <input type="radio" name="source" value="own" checked={isOwn} onChange={() => setOwn(true)} />
          Use an existing public key
        </label>
      </fieldset>
      {isOwn && (
        <TextField
          label="Public key"
          name="publicKey"
          required
          maxLength={4096}
          autoComplete="off"
          spellCheck={false}
          hint="64 hex digits or a JWK, as printed by vault keygen."
          error={error}
        />
      )}
      <ScopeFields scope={scope} />
    </>
  )
}

/** The name of a key, which also is that of the rule that admits it. */
export function KeyNameField({ hint, error }: { hint: string; error: ApiError | null }) {
  return (
    <TextField
      label="Name"
      name="name"
      required
      maxLength={64}
      pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
      title="Up to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      data-focus=""
      hint={hint}
      error={error}
    />
  )
}

/** The permissions of a key. `scope` is the initial choice. */
export function ScopeFields({ scope }: { scope: ProjectKey['scope'] | undefined }) {
  return (
    <div className="field-row">
      <SelectField label="Access" name="access" defaultValue={scope?.access} choices={ACCESSES} />
      <TextField
        label="Environments"
        name="envs"
        defaultValue={scope?.envs?.join(', ')}
        placeholder="all"
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}(\s*,\s*[A-Za-z0-9][A-Za-z0-9._\-]{0,63})*"
        title="Environment names, separated by commas"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        hint="For example production, staging. Leave empty for all."
      />
    </div>
  )
}

/** The chosen permissions. */
export function chosenScope(values: Values): ProjectKey['scope'] {
  const envs = (values['envs'] ?? '').split(',').flatMap((env) => env.trim() || [])
  return {
    access: ACCESSES.find(([access]) => access === values['access'])?.[0] ?? 'read-write',
    envs: envs.length === 0 ? null : envs,
  }
}

/** The chosen public key and scope, and the key pair if it was generated here. */
export async function chosenKey(values: Values): Promise<{
  publicKey: string
  pair: NewKeyPair | undefined
  scope: ProjectKey['scope']
}> {
  const pair = values['source'] === 'own' ? undefined : await newKeyPair()
  return {
    publicKey: pair?.publicKeyHex ?? (values['publicKey'] ?? '').trim(),
    pair,
    scope: chosenScope(values),
  }
}

/** When a key expires. `until` is the initial choice. */
export function ExpiryField({ until, error }: { until: string | null; error: ApiError | null }) {
  return (
    <TextField
      label="Expires"
      name="expiresAt"
      type="datetime-local"
      defaultValue={localMinute(until)}
      hint="Leave empty for a key that works until it is revoked."
      error={error}
    />
  )
}

/** The chosen expiry, null for none. */
export function chosenExpiry(values: Values): string | null {
  const text = values['expiresAt'] ?? ''
  return text === '' ? null : new Date(text).toISOString()
}

/** Whether the initial choice was kept. */
export function isSameExpiry(values: Values, until: string | null): boolean {
  return (values['expiresAt'] ?? '') === localMinute(until)
}

/** A time in the form of its field, which has minutes. */
function localMinute(time: string | null): string {
  if (time === null) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
