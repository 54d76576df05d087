import { z } from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { Expiry } from './expiry.ts'

const expiringSecret = z
  .strictObject({
    ...{ id: uuid, project: z.string(), env: z.string(), key: z.string(), expiresAt: time },
    ...{ note: z.string().optional(), owner: z.string().optional(), references: z.literal(true).optional() },
  })
  .meta({ id: 'ExpiringSecret', description: 'A secret with an expiry, without its value.' })

const endpoint = endpoints<{ expiry: Expiry; audit: AuditLog }>()

/** Secrets that expire. */
export const expiryEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/expiring',
    operationId: 'listExpiringSecrets',
    summary: 'List secrets that are overdue or expire soon, the earliest first',
    query: z.object({
      days: z
        .string()
        .regex(/^\d{1,4}$/, 'must be a number of days from 0 to 9999')
        .transform(Number)
        .default(30)
        .meta({ type: 'integer', minimum: 0, maximum: 9999, description: 'How many days ahead.' }),
    }),
    answer: z
      .strictObject({
        items: z.array(expiringSecret),
        complete: z.boolean().meta({ description: 'false if there are more than the 1,000 secrets that are listed.' }),
      })
      .meta({ id: 'ExpiringSecrets' }),
    handle: async ({ caller, query }, { expiry, audit }) => {
      const { items, isComplete } = await expiry.within(query.days, caller.projects)
      await audit.noteRead(caller, { what: 'expiring' })
      return {
        items: items.map(({ expiresAt, ...each }) => ({ ...each, expiresAt: expiresAt.toISOString() })),
        complete: isComplete,
      }
    },
  }),
]
