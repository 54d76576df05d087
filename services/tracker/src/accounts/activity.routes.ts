import { z } from 'zod'
import { idParams } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { type Activity, MAX_HISTORY_DAYS } from './activity.ts'

const bytes = z.int().meta({ description: 'bytes, with rates applied' })
const actualBytes = z.int().meta({ description: 'bytes, without rates' })

const transferDay = z
  .object({
    day: z.iso.date().meta({ description: 'in UTC' }),
    uploaded: bytes,
    downloaded: bytes,
    uploadedActual: actualBytes,
    downloadedActual: actualBytes,
    ratio: z.number().nullable().meta({ description: 'at the end of the day; null if nothing was downloaded' }),
  })
  .meta({ id: 'TransferDay' })

const daysProblem = `must be a whole number from 1 to ${MAX_HISTORY_DAYS}`
const days = z
  .string({ error: daysProblem })
  .regex(/^\d{1,3}$/, daysProblem)
  .transform(Number)
  .refine((count) => count >= 1 && count <= MAX_HISTORY_DAYS, daysProblem)
  .default(30)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_HISTORY_DAYS, default: 30 })

const endpoint = endpoints<{ activity: Activity }>()
const read = { tag: 'accounts', method: 'GET', limit: 'read', access: 'member' } as const

/** Transfer history of members. */
export const activityEndpoints = [
  endpoint({
    ...read,
    path: '/api/user/:id/history',
    operationId: 'getTransferHistory',
    summary: 'Get daily transfers up to today; only the user and staff can',
    params: idParams,
    query: z.object({ days }),
    answer: z.object({ items: z.array(transferDay) }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query, caller }, { activity }) => ({
      items: await activity.history(caller.session.account, params.id, query.days),
    }),
  }),
]
