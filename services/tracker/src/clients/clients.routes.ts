import { z } from 'zod'
import { time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { MAX_RULES, RULE_CONDITIONS, RULE_VERDICTS, VERSION } from './client-rules.ts'
import type { Clients } from './clients.ts'

const rule = z
  .object({
    verdict: z.enum(RULE_VERDICTS, `must be one of ${RULE_VERDICTS.join(', ')}`),
    prefix: z
      .string()
      .regex(/^[\x21-\x7e]{1,20}$/, 'must be 1 to 20 printable ASCII characters without spaces')
      .meta({ description: 'the start of peer IDs, such as `-qB`' }),
    condition: z.enum(RULE_CONDITIONS, `must be one of ${RULE_CONDITIONS.join(', ')}`).meta({
      description: 'how the version of a client compares with `version`; `any` covers every version',
    }),
    version: z
      .string()
      .regex(VERSION, 'must be up to five numbers, such as 4.5.2')
      .nullable()
      .meta({ description: 'null exactly if the condition is `any`' }),
  })
  .meta({ id: 'ClientRule' })

const givenRule = rule.refine(({ condition, version }) => (condition === 'any') === (version === null), {
  path: ['version'],
  error: 'must be null exactly if the condition is any',
})

const clients = z
  .object({
    rules: z.array(rule),
    isDefault: z.boolean().meta({ description: 'whether these are `CLIENTS_ALLOWED` and `CLIENTS_DENIED`' }),
    clients: z
      .array(
        z.object({
          client: z.string().meta({ description: 'the start of its peer IDs' }),
          name: z.string(),
          prefix: z.string(),
          version: z.string().nullable(),
          peers: z.int().meta({ description: 'average per day' }),
          users: z.int().meta({ description: 'the most on one day' }),
          share: z.number().meta({ description: 'share of all peers, from 0 to 1' }),
          lastSeen: time,
          isAllowed: z.boolean(),
          rule: rule.nullable().meta({ description: 'the rule that decided; null if none matches' }),
        }),
      )
      .meta({ description: 'clients of the last 30 days, most peers first; at most 200' }),
  })
  .meta({ id: 'Clients' })

const verdict = z
  .object({
    client: z.string().meta({ description: 'name and version' }),
    isAllowed: z.boolean(),
    rule: rule.nullable().meta({ description: 'the rule that decided; null if none matches' }),
    reason: z.string().nullable().meta({ description: 'as its user reads it' }),
  })
  .meta({ id: 'ClientVerdict' })

const rulesToChange = z.array(givenRule).max(MAX_RULES, `must be at most ${MAX_RULES} rules`).default([])
const endpoint = endpoints<{ clients: Clients }>()
const admin = { tag: 'swarms', access: 'admin', limit: 'write' } as const

/** Rules about BitTorrent clients. */
export const clientEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/clients',
    operationId: 'getClients',
    summary: 'Get the client rules and the clients of the last 30 days',
    answer: clients,
    handle: (_input, { clients }) => clients.overview(),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    limit: 'read',
    path: '/api/admin/clients/verdict',
    operationId: 'testClient',
    summary: 'Test whether a client can announce',
    query: z.object({
      peerId: z
        .string('must be the start of a peer ID')
        .regex(/^[\x20-\x7e]{1,20}$/, 'must be 1 to 20 printable ASCII characters')
        .meta({ description: 'a peer ID or its start, such as `-qB5010-`' }),
    }),
    answer: verdict,
    handle: ({ query }, { clients }) => clients.test(query.peerId),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/api/admin/clients/rules',
    operationId: 'changeClientRules',
    summary: 'Add and remove client rules; the first change starts with the rules of the server',
    body: z.object({ add: rulesToChange, remove: rulesToChange }),
    answer: clients,
    errors: ['CONFLICT'],
    handle: ({ body, caller }, { clients }) => clients.change(caller.session.account.id, body),
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/clients/rules',
    operationId: 'resetClientRules',
    summary: 'Reset the client rules to those of the server',
    status: 200,
    answer: clients,
    handle: ({ caller }, { clients }) => clients.reset(caller.session.account.id),
  }),
]
