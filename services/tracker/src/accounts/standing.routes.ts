import { z } from 'zod'
import { idParams, time } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import type { SeedingDuties } from './seeding-duties.ts'
import { MAX_HISTORY_DAYS, type TransferHistory } from './transfer-history.ts'

const bytes = z.int().meta({ description: 'bytes, multipliers applied' })
const actualBytes = z.int().meta({ description: 'bytes, as transferred' })

const transferDay = z
  .object({
    day: z.iso.date().meta({ description: 'in UTC' }),
    uploaded: bytes,
    downloaded: bytes,
    uploadedActual: actualBytes,
    downloadedActual: actualBytes,
    ratio: z.number().nullable().meta({ description: 'at the end of the day; null when nothing was downloaded' }),
  })
  .meta({ id: 'TransferDay' })

const seedingDuty = z
  .object({
    torrent: z.object({ id: z.string(), name: z.string(), size: z.int() }),
    seeding: z.boolean().meta({ description: 'false: a hit-and-run' }),
    completed: time,
    lastSeen: time,
    seedSeconds: z.int(),
    uploaded: actualBytes,
    downloaded: actualBytes,
  })
  .meta({ id: 'SeedingDuty' })

const daysProblem = `must be a whole number from 1 to ${MAX_HISTORY_DAYS}`
const days = z
  .string({ error: daysProblem })
  .regex(/^\d{1,3}$/, daysProblem)
  .transform(Number)
  .refine((count) => count >= 1 && count <= MAX_HISTORY_DAYS, daysProblem)
  .default(30)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_HISTORY_DAYS, default: 30 })

const endpoint = endpoints<{ transferHistory: TransferHistory; seedingDuties: SeedingDuties }>()
const read = { tag: 'accounts', method: 'GET', limit: 'read', access: 'member' } as const

/** What a member transferred over time, and what is still to be seeded. */
export const standingEndpoints = [
  endpoint({
    ...read,
    path: '/api/user/:id/history',
    operationId: 'getTransferHistory',
    summary: 'What a user transferred by day, up to today; for the user and staff',
    params: idParams,
    query: z.object({ days }),
    answer: z.object({ items: z.array(transferDay) }),
    errors: ['NOT_FOUND'],
    handle: async ({ params, query, caller }, { transferHistory }) => ({
      items: await transferHistory.visibleTo(caller.session.account, params.id, query.days),
    }),
  }),
  endpoint({
    ...read,
    path: '/api/user/seeding-duties',
    operationId: 'listSeedingDuties',
    summary: 'What you completed and have to seed for longer, hit-and-runs first; a hundred at most',
    answer: z.object({
      requiredSeconds: z.int().meta({ description: 'how long a torrent is to be seeded, unless its ratio is 1' }),
      items: z.array(seedingDuty),
    }),
    handle: async ({ caller }, { seedingDuties }) => {
      const { requiredSeconds, items } = await seedingDuties.of(caller.session.account.id)
      return {
        requiredSeconds,
        items: items.map(({ completed, lastSeen, ...rest }) => ({
          ...rest,
          completed: completed.toISOString(),
          lastSeen: lastSeen.toISOString(),
        })),
      }
    },
  }),
]
