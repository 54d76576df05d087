import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Dialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { api, read } from '../api/client.ts'
import type { SecretMetadata } from '../api/types.ts'
import { useAdministrator } from '../api/use-administrator.ts'
import { versionsOf } from './queries.ts'

/** The versions of a secret. One that is restored becomes a new version, so nothing is lost. */
export function Versions(props: { project: string; secret: SecretMetadata; onClose: () => void }) {
  const { project, secret, onClose } = props
  const { mayWrite } = useAdministrator()
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
      toast(`Version ${version} is current again, as version ${restored.version}.`)
      await queries.invalidateQueries({ queryKey: ['versions', secret.id] })
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
    },
    onError: toastProblem,
  })
  return (
    <Dialog title={`Versions of ${secret.key}`} onClose={onClose}>
      <p className="muted">
        {project}, {secret.env}. Restoring makes an older value current as a new version; applications get it at their
        next fetch.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="The versions are loading." />
      ) : (
        <ol className="version-list" reversed>
          {data.map(({ version, createdAt, current }) => (
            <li key={version}>
              <span>
                Version {version} {current && <span className="tag">current</span>}
                <span className="muted"> {formatExactTime(createdAt)}</span>
              </span>
              {mayWrite && !current && (
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
