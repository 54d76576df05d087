import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, Dialog, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { SecretMetadata } from '../../api/types.ts'
import { Actor, useNamed } from '../../frame/actor.tsx'
import { versionsOf } from './queries.ts'

/** The versions of a secret. Restoring one creates a new version. */
export function Versions(props: { project: string; secret: SecretMetadata; onClose: () => void }) {
  const { project, secret, onClose } = props
  const { mayEditSecrets } = useAdministrator(project)
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(versionsOf(secret.id))
  const named = useNamed(data)
  const [asked, setAsked] = useState<number>()
  const restore = useMutation({
    mutationFn: (version: number) =>
      read(
        api.POST('/v1/admin/secrets/{id}/versions/{version}/restore', {
          params: { path: { id: secret.id, version: String(version) } },
        }),
      ),
    onSuccess: async (restored, version) => {
      toast(`Version ${version} restored as version ${restored.version}.`)
      setAsked(undefined)
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
          {data.map(({ version, createdAt, current, actor, keyName }) => (
            <li key={version}>
              <span>
                Version {version} {current && <span className="tag">current</span>}
                <span className="muted">
                  {' '}
                  {formatExactTime(createdAt)} by <Actor actor={actor} keyName={keyName} named={named} />
                </span>
              </span>
              {mayEditSecrets && !current && (
                <Button className="small" aria-label={`Restore version ${version}`} onClick={() => setAsked(version)}>
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
      {asked !== undefined && (
        <Confirm
          title={`Restore version ${asked} of ${secret.key}?`}
          action="Restore version"
          isBusy={restore.isPending}
          onConfirm={() => restore.mutate(asked)}
          onCancel={() => setAsked(undefined)}
        >
          <p>
            Applications that use {secret.env} of {project} receive it at their next fetch. The current value stays as a
            version.
          </p>
        </Confirm>
      )}
    </Dialog>
  )
}
