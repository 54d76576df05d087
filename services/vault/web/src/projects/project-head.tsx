import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDate } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { useAdministrator } from '../api/session.ts'
import type { Project } from '../api/types.ts'
import { DeleteProject } from './delete-project.tsx'

export function ProjectHead({ project }: { project: Project }) {
  const { name, createdAt, requireContentDigest = false } = project
  const { mayWrite } = useAdministrator(name)
  return (
    <header className="section-head">
      <div>
        <h1>{name}</h1>
        <p className="muted">
          Registered {formatDate(createdAt)} · content digest {requireContentDigest ? 'required' : 'optional'} for
          writes ·{' '}
          <Link to="/audit" search={{ project: name }}>
            Audit log
          </Link>
        </p>
      </div>
      {mayWrite && <Actions project={name} requiresDigest={requireContentDigest} />}
    </header>
  )
}

function Actions({ project, requiresDigest }: { project: string; requiresDigest: boolean }) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'digest' | 'delete'>()
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
      toast(requiresDigest ? 'Content digest is optional.' : 'Content digest is required.')
      void queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  const digestAction = requiresDigest ? 'Make digest optional' : 'Require digest'
  return (
    <div className="form-actions">
      <Button onClick={() => setAsked('digest')}>{digestAction}</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete project
      </Button>
      {asked === 'digest' && (
        <Confirm
          title={requiresDigest ? 'Make the content digest optional?' : 'Require a content digest?'}
          action={digestAction}
          isBusy={change.isPending}
          onConfirm={() => change.mutate()}
          onCancel={close}
        >
          <p>
            {requiresDigest
              ? `The vault will accept writes to ${project} whose signature does not cover the body. Anyone who can alter a request in transit can then change its value.`
              : `The vault will refuse writes to ${project} whose signature does not cover the body. Applications that sign without Content-Digest can no longer write.`}
          </p>
        </Confirm>
      )}
      {asked === 'delete' && <DeleteProject project={project} onClose={close} />}
    </div>
  )
}
