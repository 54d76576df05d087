import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { api, read } from '../api/client.ts'
import { keysOf } from './keys/queries.ts'
import { secretsOf } from './secrets/queries.ts'

export function DeleteProject({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data: keys } = useQuery(keysOf(project))
  const { data: secrets } = useQuery(secretsOf(project))
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/v1/admin/projects/{id}', { params: { path: { id: project } } })),
    onSuccess: async () => {
      toast(`Project ${project} deleted.`)
      await navigate({ to: '/projects' })
      queries.removeQueries({ queryKey: ['keys', project] })
      queries.removeQueries({ queryKey: ['secrets', project] })
      await queries.invalidateQueries()
    },
  })
  const envs = [...new Set(secrets?.map(({ env }) => env))]
  return (
    <ConfirmByName
      title={`Delete project ${project}?`}
      name={project}
      action="Delete project"
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>This permanently deletes:</p>
      <ul className="bullets">
        <li>
          {secrets === undefined ? 'all secrets' : formatNumberOf(secrets.length, 'secret')} with all versions
          {envs.length > 0 && `, in ${envs.join(', ')}`}
        </li>
        <li>{keys === undefined ? 'all active keys' : formatNumberOf(keys.length, 'active key')}</li>
      </ul>
      <p>Its applications lose access immediately. Its entries in the audit log stay.</p>
    </ConfirmByName>
  )
}
