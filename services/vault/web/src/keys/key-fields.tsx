import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Field, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import type { ProjectKey } from '../api/types.ts'
import { type NewKeyPair, newKeyPair } from './new-key-pair.ts'

type Access = ProjectKey['scope']['access']

const ACCESSES: readonly (readonly [Access, string])[] = [
  ['read-write', 'Read and write'],
  ['read', 'Only read'],
  ['write', 'Only write'],
]

/** The names of `KeyFields`. */
export const KEY_FIELDS = ['publicKey', 'access', 'envs'] as const

/** Where the key comes from, and what it may do. @param props `scope` is what is chosen at first */
export function KeyFields({ scope, error }: { scope: ProjectKey['scope'] | undefined; error: ApiError | null }) {
  const [isOwn, setOwn] = useState(false)
  return (
    <>
      <fieldset className="choices">
        <legend>Key</legend>
        <label className="switch">
          <input type="radio" name="source" value="made" checked={!isOwn} onChange={() => setOwn(false)} />
          Make a key pair in this browser
        </label>
        <label className="switch">
          <input type="radio" name="source" value="own" checked={isOwn} onChange={() => setOwn(true)} />
          Use a public key that I have
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
          hint="64 hex digits, or a JWK; vault keygen prints one."
          error={error}
        />
      )}
      <div className="field-row">
        <Field label="It may" name="access">
          {(attributes) => (
            <select {...attributes} className="input" defaultValue={scope?.access}>
              {ACCESSES.map(([access, text]) => (
                <option key={access} value={access}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          label="In environments"
          name="envs"
          defaultValue={scope?.envs?.join(', ')}
          placeholder="all"
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}(\s*,\s*[A-Za-z0-9][A-Za-z0-9._\-]{0,63})*"
          title="Names of environments with commas between them"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          hint="production, staging; empty for all."
        />
      </div>
    </>
  )
}

/** What was chosen: the key to send, its private half where it was made here, and its scope. */
export async function chosenKey(values: Readonly<Record<string, string>>): Promise<{
  publicKey: string
  pair: NewKeyPair | undefined
  scope: ProjectKey['scope']
}> {
  const pair = values['source'] === 'own' ? undefined : await newKeyPair()
  const envs = (values['envs'] ?? '').split(',').flatMap((env) => env.trim() || [])
  return {
    publicKey: pair?.publicKeyHex ?? (values['publicKey'] ?? '').trim(),
    pair,
    scope: {
      access: ACCESSES.find(([access]) => access === values['access'])?.[0] ?? 'read-write',
      envs: envs.length === 0 ? null : envs,
    },
  }
}
