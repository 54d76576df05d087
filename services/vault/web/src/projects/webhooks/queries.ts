import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

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
