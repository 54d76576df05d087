import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Dialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { SecretMetadata } from '../../api/types.ts'
import { versionsOf } from './queries.ts'

/** The versions of a secret. Restoring one creates a new version. */
export function Versions(props: { project: string; secret: SecretMetadata; onClose: () => void }) {
  const { project, secret, onClose } = props
  const { mayEditSecrets } = useAdministrator(project)
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(versionsOf(secret.id))
  const restore = useMutation({
    mutationFn: (version: number) =>
      read(
        api.POST('/v1/admin/secrets/{id}/versions/{version}/restore', {
          params: { path: { id: secret.id, version: String(version) } },
        }),
      ),
    onSuccess: async (restored, version) => {
      toast(`Version ${version} restored as version ${restored.version}.`)
      await queries.invalidateQueries({ queryKey: ['versions', secret.id] })
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
    },
    onError: toastProblem,
  })
  return (
    <Dialog title={`Versions of ${secret.key}`} onClose={onClose}>
      <p className="muted">
        {project}, {secret.env}. Restoring copies an older value to a new version, which applications receive at their
        next fetch.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading versions…" />
      ) : (
        <ol className="version-list" reversed>
          {data.map(({ version, createdAt, current }) => (
            <li key={version}>
              <span>
                Version {version} {current && <span className="tag">current</span>}
                <span className="muted"> {formatExactTime(createdAt)}</span>
              </span>
              {mayEditSecrets && !current && (
                <Button
                  className="small"
                  isBusy={restore.isPending}
                  aria-label={`Restore version ${version}`}
                  onClick={() => restore.mutate(version)}
                >
                  Restore
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
      <div className="form-actions">
        <Button onClick={onClose} data-focus="">
          Close
        </Button>
      </div>
    </Dialog>
  )
}
