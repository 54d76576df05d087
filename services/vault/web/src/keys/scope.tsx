import type { ProjectKey } from '../api/types.ts'

const ACCESS_NAMES = { 'read-write': 'Read and write', read: 'Read', write: 'Write' } as const

/** What a key may do and in which environments. */
export function ScopeText({ scope: { access, envs } }: { scope: ProjectKey['scope'] }) {
  return (
    <>
      {ACCESS_NAMES[access]}
      <span className="muted"> {envs === null ? 'in all environments' : `in ${envs.join(', ')}`}</span>
    </>
  )
}
