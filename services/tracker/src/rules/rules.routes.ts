import { z } from 'zod'
import { namedUser, pageOf, pageQuery, text, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { MAX_RULES, type Rules } from './rules.ts'

const version = z.int().min(0).max(1_000_000)
const rulesText = text({ min: 1, max: MAX_RULES, lines: true }).meta({ description: 'Markdown' })

const currentRules = z
  .object({
    version: z.int().meta({ description: 'counts from 1; 0 if there are no rules' }),
    text: z.string().meta({ description: 'Markdown' }),
    published: time.nullable(),
    accepted: time.nullable().meta({ description: 'when you accepted this version' }),
  })
  .meta({ id: 'Rules' })

const publishedVersion = z
  .object({
    version: z.int(),
    published: time,
    by: namedUser,
    acceptances: z.int().meta({ description: 'members who accepted it' }),
  })
  .meta({ id: 'RulesVersion' })

const endpoint = endpoints<{ rules: Rules }>()
const admin = { tag: 'rules', access: 'admin' } as const

const NONE = { version: 0, text: '', published: null, accepted: null } as const

/** The rules of the site. Administrators publish versions, and members accept them. */
export const rulesEndpoints = [
  endpoint({
    tag: 'rules',
    access: 'member',
    limit: 'read',
    method: 'GET',
    path: '/api/rules',
    operationId: 'getRules',
    summary: 'Get the current rules, and whether you accepted them',
    answer: currentRules,
    handle: async ({ caller }, { rules }) => {
      const current = await rules.current(caller.session.account.id)
      if (current === undefined) return NONE
      const { version, text, publishedAt, acceptedAt } = current
      return { version, text, published: publishedAt, accepted: acceptedAt }
    },
  }),
  endpoint({
    tag: 'rules',
    access: 'member',
    limit: 'write',
    method: 'POST',
    path: '/api/rules/acceptance',
    operationId: 'acceptRules',
    summary: 'Accept the current version of the rules',
    body: z.object({ version }),
    status: 204,
    errors: ['CONFLICT'],
    handle: ({ body, caller }, { rules }) => rules.accept(caller.session.account.id, body.version),
  }),
  endpoint({
    ...admin,
    limit: 'read',
    method: 'GET',
    path: '/api/admin/rules',
    operationId: 'listRulesVersions',
    summary: 'List all versions of the rules, newest first',
    query: pageQuery,
    answer: pageOf(publishedVersion),
    handle: async ({ query }, { rules }) => {
      const { items, ...rest } = await rules.versions(query)
      return {
        ...rest,
        items: items.map(({ publishedAt, publishedBy, ...item }) => ({
          ...item,
          published: publishedAt,
          by: publishedBy,
        })),
      }
    },
  }),
  endpoint({
    ...admin,
    limit: 'write',
    method: 'POST',
    path: '/api/admin/rules',
    operationId: 'publishRules',
    summary: 'Publish the next version of the rules, which members accept again',
    body: z.object({
      text: rulesText,
      replaces: version.meta({ description: 'the version that you have read; 0 for the first one' }),
    }),
    status: 204,
    errors: ['CONFLICT'],
    handle: ({ body, caller }, { rules }) => rules.publish(body.text, body.replaces, caller.session.account.id),
  }),
  endpoint({
    ...admin,
    limit: 'read',
    method: 'GET',
    path: '/api/admin/rules/:version',
    operationId: 'getRulesVersion',
    summary: 'Get the text of a version of the rules',
    params: z.object({
      version: z
        .string()
        .regex(/^\d{1,7}$/, 'must be a number')
        .transform(Number),
    }),
    answer: z.object({ text: z.string() }).meta({ id: 'RulesText' }),
    errors: ['NOT_FOUND'],
    handle: async ({ params }, { rules }) => ({ text: await rules.text(params.version) }),
  }),
]
