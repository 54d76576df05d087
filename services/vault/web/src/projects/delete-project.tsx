import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { api, read } from '../api/client.ts'
import { keysOf, secretsOf } from './queries.ts'

/** Deletes a project, once it was said what goes with it. */
export function DeleteProject({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data: keys } = useQuery(keysOf(project))
  const { data: secrets } = useQuery(secretsOf(project))
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/v1/admin/projects/{id}', { params: { path: { id: project } } })),
    onSuccess: async () => {
      toast(`${project} is deleted.`)
      await navigate({ to: '/projects' })
      queries.removeQueries({ queryKey: ['keys', project] })
      queries.removeQueries({ queryKey: ['secrets', project] })
      await queries.invalidateQueries()
    },
  })
  const envs = [...new Set(secrets?.map(({ env }) => env))]
  return (
    <ConfirmByName
      title={`Delete ${project}?`}
      name={project}
      action="Delete the project"
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>This goes for good, and nothing brings it back:</p>
      <ul className="bullets">
        <li>
          {secrets === undefined ? 'all its secrets' : counted(secrets.length, 'secret')} with all versions
          {envs.length > 0 && `, in ${envs.join(', ')}`};
        </li>
        <li>
          {keys === undefined ? 'all its keys' : counted(keys.length, 'valid key')}: its applications get nothing more.
        </li>
      </ul>
      <p>Its entries in the audit log stay.</p>
    </ConfirmByName>
  )
}

function counted(count: number, one: string): string {
  return `${formatCount(count)} ${count === 1 ? one : `${one}s`}`
}
