import { z } from 'zod'
import { idParams, time } from '../http/fields.ts'
import { endpoints, type SignedInUser } from '../surface.ts'
import { SIGNER } from './deliveries.ts'
import { WEBHOOK_FORMATS } from './payloads.ts'
import { type Owner, shownUrl, type Webhook, type Webhooks } from './webhooks.ts'

const webhook = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: 'scheme and host only; the rest may be a secret of the receiver' }),
    format: z.enum(WEBHOOK_FORMATS),
    savedSearch: z.string().nullable().meta({ description: 'only torrents that match this one are sent' }),
    enabled: z.boolean(),
    created: time,
    failures: z.int().meta({ description: 'how often the receiver failed in a row; 0 after a torrent is skipped' }),
    retry: time.nullable().meta({ description: 'when the next attempt after a failure is due' }),
    attempted: time.nullable().meta({ description: 'when the last torrent was sent' }),
    result: z.string().nullable().meta({ description: 'result of this attempt' }),
  })
  .meta({ id: 'Webhook' })

const url = z.string().meta({ format: 'uri', description: '`https://`, with a public address' })
const format = z.enum(WEBHOOK_FORMATS, `must be one of ${WEBHOOK_FORMATS.join(', ')}`)
const savedSearch = z.string().nullable()

const endpoint = endpoints<{ webhooks: Webhooks; webhookKey: () => Promise<string> }>()

/** The key that verifies webhooks, the webhooks of members, and those of the site. */
export const webhookEndpoints = [
  endpoint({
    tag: 'webhooks',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/api/webhooks/key',
    operationId: 'getWebhookKey',
    summary: 'Get the Ed25519 public key that verifies the signatures of webhooks (RFC 9421)',
    answer: z.object({ publicKey: z.string().meta({ description: '64 hex digits' }), signer: z.string() }),
    handle: async (_input, { webhookKey }) => ({ publicKey: await webhookKey(), signer: SIGNER }),
  }),
  ...webhooksOf({
    ...{ access: 'member', path: '/api/webhooks', noun: 'Webhook', whose: 'your' },
    ownerOf: ({ session }) => ({ userId: session.account.id }),
  }),
  ...webhooksOf({
    ...{ access: 'admin', path: '/api/admin/webhooks', noun: 'SiteWebhook', whose: "the site's" },
    ownerOf: ({ session }) => ({ by: session.account.id }),
  }),
]

/** The endpoints for the webhooks of one kind of owner. */
function webhooksOf(kind: {
  readonly access: 'member' | 'admin'
  readonly path: string
  readonly noun: string
  readonly whose: string
  readonly ownerOf: (caller: SignedInUser) => Owner
}) {
  const { access, path, noun, whose, ownerOf } = kind
  const shared = { tag: 'webhooks', access } as const
  return [
    endpoint({
      ...shared,
      method: 'GET',
      path,
      operationId: `list${noun}s`,
      summary: `List ${whose} webhooks in the order in which they were added`,
      limit: 'read',
      answer: z.object({ items: z.array(webhook) }),
      handle: async ({ caller }, { webhooks }) => ({ items: (await webhooks.listBy(ownerOf(caller))).map(present) }),
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path,
      operationId: `add${noun}`,
      summary: `Add one of ${whose} webhooks, which receives each new torrent; at most ${access === 'member' ? 5 : 10}`,
      limit: 'write',
      body: z.object({ url, format: format.default('json'), savedSearch: savedSearch.default(null) }),
      status: 201,
      answer: z.object({ id: z.string() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ body, caller }, { webhooks }) => ({ id: await webhooks.add(ownerOf(caller), body) }),
    }),
    endpoint({
      ...shared,
      method: 'PATCH',
      path: `${path}/:id`,
      operationId: `change${noun}`,
      summary: `Change one of ${whose} webhooks; one that is enabled again continues with new torrents`,
      limit: 'write',
      params: idParams,
      body: z.object({ url, format, savedSearch, enabled: z.boolean() }).partial(),
      errors: ['NOT_FOUND'],
      handle: ({ params, body, caller }, { webhooks }) => webhooks.change(ownerOf(caller), params.id, body),
    }),
    endpoint({
      ...shared,
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: `delete${noun}`,
      summary: `Delete one of ${whose} webhooks`,
      limit: 'write',
      params: idParams,
      errors: ['NOT_FOUND'],
      handle: ({ params, caller }, { webhooks }) => webhooks.remove(ownerOf(caller), params.id),
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path: `${path}/:id/test`,
      operationId: `test${noun}`,
      summary: `Send a test to one of ${whose} webhooks`,
      limit: 'write',
      params: idParams,
      status: 200,
      answer: z.object({ result: z.string().meta({ description: 'the status of the response, or the problem' }) }),
      errors: ['NOT_FOUND'],
      handle: async ({ params, caller }, { webhooks }) => ({ result: await webhooks.test(ownerOf(caller), params.id) }),
    }),
  ]
}

function present({ userId: _owner, url: secret, retryAt: retry, ...rest }: Webhook) {
  return { ...rest, url: shownUrl(secret), retry }
}
