import { JsonText } from '@vault-and-tracker/rest'
import { z } from 'zod'
import { DEFAULT_ENV } from '../access/names.ts'
import { env } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import type { Changes, ChangesOfSecrets } from './changes.ts'

/** Proxies and load balancers usually close a connection after a minute without a byte. */
const MAX_WAIT_S = 30

const wait = `must be a whole number of seconds from 0 to ${String(MAX_WAIT_S)}`

const endpoint = endpoints<{ changes: ChangesOfSecrets }>()

/** Changes of the signing project's secrets. */
export const changeEndpoints = [
  endpoint({
    tag: 'secrets',
    access: 'signature',
    limit: 'changes',
    method: 'GET',
    path: '/v1/secrets/changes',
    operationId: 'waitForChanges',
    summary:
      'Wait for changes of an environment. Answers at once if its version is not the given one, otherwise after the next ' +
      'change, or without changes when the time is up. Only answers with values are in the audit log.',
    query: z.object({
      env: env.default(DEFAULT_ENV),
      since: z
        .string()
        .regex(/^[\w.,~-]{1,256}$/, 'must be a version that the vault returned')
        .optional()
        .meta({ description: 'The version of an earlier answer. Without it, everything counts as changed.' }),
      values: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: 'Whether an answer with changes contains all values of the environment.' }),
      wait: z
        .string()
        .regex(/^\d{1,2}$/, wait)
        .transform(Number)
        .refine((seconds) => seconds <= MAX_WAIT_S, wait)
        .default(MAX_WAIT_S)
        .meta({ type: 'integer', minimum: 0, maximum: MAX_WAIT_S, default: MAX_WAIT_S }),
    }),
    answer: z
      .strictObject({
        version: z
          .string()
          .meta({ description: 'Send it as `since` to wait for the next change. Its format may change.' }),
        changed: z.array(z.string()).meta({
          description:
            'Keys whose values changed or were removed since the given version; all keys if that is unknown.',
        }),
        values: z.record(z.string(), z.string()).optional(),
      })
      .meta({ id: 'Changes' }),
    errors: ['decryption_failed', 'unresolved_reference'],
    handle: async ({ query, caller }, { changes }) => {
      const { since, values, wait: seconds } = query
      const question = { env: query.env, since, values: values === 'true', waitMs: seconds * 1_000 }
      return toJson(await changes.since(caller, question))
    },
  }),
]

/** The same bytes with the same changes are sent to many clients, which share the text. */
const sent = new WeakMap<Buffer, Map<string, Buffer>>()

function toJson({ values, ...changes }: Changes): JsonText {
  const head = JSON.stringify(changes)
  if (values === undefined) return new JsonText(head)
  const start = `${head.slice(0, -1)},"values":`
  if (typeof values === 'string') return new JsonText(`${start}${values}}`)
  const texts = sent.get(values) ?? new Map<string, Buffer>()
  sent.set(values, texts)
  const text = texts.get(head) ?? Buffer.concat([Buffer.from(start), values, Buffer.from('}')])
  texts.set(head, text)
  return new JsonText(text)
}
