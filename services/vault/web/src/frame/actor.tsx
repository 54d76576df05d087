import { useQuery } from '@tanstack/react-query'
import { administrators } from '../api/queries.ts'
import { useAdministrator } from '../api/session.ts'
import type { Administrator } from '../api/types.ts'

const SHOWN_FINGERPRINT = 12

/** All administrators; undefined if the reader may not see them. */
export type Named = readonly Administrator[] | undefined

/** Reads the names of actors. This adds an entry to the log, so it happens only if an administrator is among them. */
export function useNamed(acts: readonly { readonly actor?: string | null | undefined }[] | undefined): Named {
  const { seesAdministrators } = useAdministrator()
  const isNamed = acts?.some(({ actor }) => actor?.startsWith('administrator:')) === true
  return useQuery({ ...administrators, enabled: seesAdministrators && isNamed }).data
}

/** An actor is `key:<fingerprint>`, `administrator`, `administrator:<id>`, `oidc:<subject>`, `command` or `unknown`. */
export function Actor(props: { actor: string | null; keyName: string | undefined; named: Named }) {
  const { actor, keyName, named } = props
  if (actor === null) return <span className="muted">not recorded</span>
  const [kind, value] = actor.split(':')
  if (value === undefined) return actor === 'administrator' ? 'admin token' : actor
  if (kind === 'key')
    return (
      <span title={value}>
        key <bdi className="long-name">{keyName}</bdi> <code>{value.slice(0, SHOWN_FINGERPRINT)}…</code>
      </span>
    )
  // A subject may contain colons.
  if (kind === 'oidc') return <bdi className="long-name">{actor.slice('oidc:'.length)}</bdi>
  const name = named === undefined ? 'an administrator' : named.find(({ id }) => id === value)?.name
  return <bdi title={value}>{name ?? 'a removed administrator'}</bdi>
}
