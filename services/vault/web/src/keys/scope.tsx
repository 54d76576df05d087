import type { ProjectKey } from '../api/types.ts'

/** What a key may do. */
const ACCESS_NAMES = { 'read-write': 'reads and writes', read: 'reads', write: 'writes' } as const

/** What a key may do, and in which environments. */
export function ScopeText({ scope: { access, envs } }: { scope: ProjectKey['scope'] }) {
  return (
    <>
      {ACCESS_NAMES[access]}
      <span className="muted"> {envs === null ? 'everywhere' : `in ${envs.join(', ')}`}</span>
    </>
  )
}
