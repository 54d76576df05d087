import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'

/** The active keys of a project, newest first, and those that ended in the last 30 days if `ended`. */
export const keysOf = (name: string, ended = false) =>
  queryOptions({
    queryKey: ['keys', name, ended],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/admin/projects/{id}/keys', {
          params: { path: { id: name }, query: { ended: ended ? 'true' : 'false' } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

/** The trust rules of a project. */
export const trustRulesOf = (name: string) =>
  queryOptions({
    queryKey: ['trust-rules', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/trust-rules', { params: { path: { id: name } }, signal })),
  })

/** The environments of a project, and which inherits from which. */
export const environmentsOf = (name: string) =>
  queryOptions({
    queryKey: ['environments', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/environments', { params: { path: { id: name } }, signal })),
  })

/** Which other projects may refer to secrets of a project. */
export const referenceRulesOf = (name: string) =>
  queryOptions({
    queryKey: ['reference-rules', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/reference-rules', { params: { path: { id: name } }, signal })),
  })

/** The secrets of a project, without their values. */
export const secretsOf = (name: string) =>
  queryOptions({
    queryKey: ['secrets', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/secrets', { params: { path: { id: name } }, signal })),
  })

/** The versions of a secret, newest first, without their values. */
export const versionsOf = (id: string) =>
  queryOptions({
    queryKey: ['versions', id],
    queryFn: ({ signal }) => read(api.GET('/v1/admin/secrets/{id}/versions', { params: { path: { id } }, signal })),
  })

/** The webhooks of a project, in the order in which they were added. */
export const webhooksOf = (project: string) =>
  queryOptions({
    queryKey: ['webhooks', project],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/webhooks', { params: { path: { id: project } }, signal })),
  })

/** The newest deliveries of a webhook. Each read is in the audit log, so the list is renewed only on request. */
export const deliveriesOf = (project: string, webhookId: string) =>
  queryOptions({
    queryKey: ['deliveries', project, webhookId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/admin/projects/{id}/webhooks/{webhookId}/deliveries', {
          params: { path: { id: project, webhookId } },
          signal,
        }),
      ),
  })

/** The key that verifies all webhooks. It does not change. */
export const signingKey = queryOptions({
  queryKey: ['webhook-key'],
  queryFn: ({ signal }) => read(api.GET('/v1/webhooks/key', { signal })),
})
