import { z } from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { OK, ok, pageLimit, projectParams, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { type Delivery, SIGNER, type Webhooks } from './webhooks.ts'

const webhook = z
  .strictObject({
    id: uuid,
    url: z.string().meta({ description: 'Without its query, which may be a secret of the receiver.' }),
    hasQuery: z.boolean(),
    enabled: z.boolean(),
    createdAt: time,
    failures: z.int().meta({ description: 'How often the receiver failed in a row.' }),
    retryAt: time
      .nullable()
      .meta({ description: 'Until then, no delivery is attempted, because the receiver failed.' }),
  })
  .meta({ id: 'Webhook' })

const delivery = z
  .strictObject({
    id: uuid.meta({ description: 'The same in every attempt, and in the body as `id`.' }),
    event: z.string(),
    createdAt: time,
    state: z.enum(['waiting', 'delivered', 'given_up']),
    attempts: z.int(),
    nextAttemptAt: time.nullable(),
    deliveredAt: time.nullable(),
    httpStatus: z.int().nullable().meta({ description: 'Of the last response.' }),
    problem: z.string().nullable().meta({ description: 'Why the last attempt had no response.' }),
  })
  .meta({ id: 'WebhookDelivery' })

const url = z.string().min(1, 'must not be empty').meta({
  format: 'uri',
  description: 'https://, without user and password. Its address must be public unless the vault allows private ones.',
})

const webhookParams = projectParams.extend({ webhookId: uuid })

function present({ createdAt, nextAt, deliveredAt, ...row }: Delivery): z.output<typeof delivery> {
  return {
    ...row,
    state: deliveredAt !== null ? 'delivered' : nextAt !== null ? 'waiting' : 'given_up',
    createdAt: createdAt.toISOString(),
    nextAttemptAt: nextAt?.toISOString() ?? null,
    deliveredAt: deliveredAt?.toISOString() ?? null,
  }
}

const publicEndpoint = endpoints<{ webhooks: Webhooks }>()
const endpoint = endpoints<{ webhooks: Webhooks; audit: AuditLog }>()

/** The key that verifies webhooks, and the webhooks of projects. */
export const webhookEndpoints = [
  publicEndpoint({
    tag: 'webhooks',
    access: 'anyone',
    limit: 'none',
    method: 'GET',
    path: '/v1/webhooks/key',
    operationId: 'webhookKey',
    summary: 'Get the public key that verifies the signatures of webhooks',
    answer: z.strictObject({
      publicKey: z.string().meta({ description: 'An Ed25519 key, 64 hex digits.' }),
      signer: z.string().meta({ description: 'The name in `keyid` and `Signature-Agent`.' }),
    }),
    handle: (_input, { webhooks }) => Promise.resolve({ publicKey: webhooks.publicKey, signer: SIGNER }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/webhooks',
    operationId: 'listWebhooks',
    summary: 'List the webhooks of a project',
    params: projectParams,
    answer: z.array(webhook),
    errors: ['not_found'],
    handle: async ({ params, caller }, { webhooks, audit }) => {
      const listed = await webhooks.listOf(params.id)
      await audit.noteRead(caller, { what: 'webhooks', projectId: params.id })
      return listed.map(({ createdAt, retryAt, ...row }) => ({
        ...row,
        createdAt: createdAt.toISOString(),
        retryAt: retryAt?.toISOString() ?? null,
      }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/webhooks',
    operationId: 'addWebhook',
    summary: 'Send the changes of a project to a URL: names and versions, never values',
    params: projectParams,
    body: z.strictObject({ url }),
    status: 201,
    answer: ok.extend({ id: uuid }),
    errors: ['not_found', 'too_many_webhooks'],
    handle: async ({ params, body, caller }, { webhooks }) => ({
      ...OK,
      id: await webhooks.add(params.id, body.url, caller),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'PATCH',
    path: '/v1/admin/projects/:id/webhooks/:webhookId',
    operationId: 'updateWebhook',
    summary: 'Change, enable or disable a webhook. Waiting deliveries are attempted at once.',
    params: webhookParams,
    body: z.strictObject({ url: url.optional(), enabled: z.boolean().optional() }),
    answer: ok,
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, body, caller }, { webhooks }) => {
      await webhooks.update(params.id, params.webhookId, body, caller)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/projects/:id/webhooks/:webhookId',
    operationId: 'removeWebhook',
    summary: 'Remove a webhook with its waiting deliveries and its log',
    params: webhookParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { webhooks }) => {
      await webhooks.remove(params.id, params.webhookId, caller)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/webhooks/:webhookId/test',
    operationId: 'testWebhook',
    summary: 'Send a test event. Its result is in the list of deliveries.',
    params: webhookParams,
    answer: ok.extend({ id: uuid }),
    errors: ['not_found'],
    handle: async ({ params, caller }, { webhooks }) => ({
      ...OK,
      id: await webhooks.test(params.id, params.webhookId, caller),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/webhooks/:webhookId/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first: up to 1,000 of the last seven days',
    params: webhookParams,
    query: z.object({
      limit: pageLimit,
    }),
    answer: z.array(delivery),
    errors: ['not_found'],
    handle: async ({ params, query, caller }, { webhooks, audit }) => {
      const listed = await webhooks.deliveriesOf(params.id, params.webhookId, query.limit)
      await audit.noteRead(caller, { what: 'webhooks', projectId: params.id })
      return listed.map(present)
    },
  }),
]
