import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDate } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import type { Project } from '../api/types.ts'
import { useAdministrator } from '../api/use-administrator.ts'
import { DeleteProject } from './delete-project.tsx'
import { keysOf } from './queries.ts'
import { RotateKey } from './rotate-key.tsx'

/** The name of a project, what is known of it, and what can be done with it. */
export function ProjectHead({ project }: { project: Project }) {
  const { name, createdAt, requireContentDigest = false } = project
  const { mayWrite } = useAdministrator()
  return (
    <header className="section-head">
      <div>
        <h1>{name}</h1>
        <p className="muted">
          Registered {formatDate(createdAt)} · signatures of writes{' '}
          {requireContentDigest ? 'must cover the body' : 'may leave out the body'} ·{' '}
          <Link to="/audit" search={{ project: name }}>
            audit log
          </Link>
        </p>
      </div>
      {mayWrite && <Actions project={name} requiresDigest={requireContentDigest} />}
    </header>
  )
}

function Actions({ project, requiresDigest }: { project: string; requiresDigest: boolean }) {
  const queries = useQueryClient()
  const { data: keys } = useQuery(keysOf(project))
  const [asked, setAsked] = useState<'rotate' | 'digest' | 'delete'>()
  const close = (): void => setAsked(undefined)
  const change = useMutation({
    mutationFn: () =>
      read(
        api.PATCH('/v1/admin/projects/{id}', {
          params: { path: { id: project } },
          body: { requireContentDigest: !requiresDigest },
        }),
      ),
    onSuccess: () => {
      close()
      toast(requiresDigest ? 'Writes may leave out the digest.' : 'Writes must have a signed digest.')
      void queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  const digestAction = requiresDigest ? 'Allow writes without digest' : 'Require digest'
  return (
    <div className="form-actions">
      {/* The new key gets the scope of the newest one, which has to be known first. */}
      <Button kind="main" isBusy={keys === undefined} onClick={() => setAsked('rotate')}>
        Rotate key
      </Button>
      <Button onClick={() => setAsked('digest')}>{digestAction}</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      {asked === 'rotate' && <RotateKey project={project} newest={keys?.[0]} onClose={close} />}
      {asked === 'digest' && (
        <Confirm
          title={requiresDigest ? 'Allow writes without a digest?' : 'Require a digest of writes?'}
          action={digestAction}
          isBusy={change.isPending}
          onConfirm={() => change.mutate()}
          onCancel={close}
        >
          <p>
            Writes to {project} whose signature leaves out the body{' '}
            {requiresDigest
              ? 'are accepted from now on. Whoever can change requests on their way can then change values.'
              : 'are refused from now on. Applications that sign without Content-Digest cannot write any more.'}
          </p>
        </Confirm>
      )}
      {asked === 'delete' && <DeleteProject project={project} onClose={close} />}
    </div>
  )
}
