import { isIP } from 'node:net'
import { addressKey, plainAddress } from '@vault-and-tracker/service-kit/http/client-address'
import { z } from 'zod'
import { type Listed, MAX_OFFSET, type Page } from '../pagination.ts'

/** Input and output fields that several features share. */

const isoTime = z.iso.datetime()

/** A time in an answer. Handlers return a `Date`, which JSON writes as ISO 8601 in UTC. */
export const time = z
  .custom<Date | string>((value) => isoTime.safeParse(value).success)
  .meta({ ...z.toJSONSchema(isoTime), $schema: undefined, description: 'ISO 8601, UTC' })

/** The id in a path. A malformed id is treated as unknown, so any text is accepted. */
export const idParams = z.object({ id: z.string() })

/**
 * Characters allowed in text: no control or format characters, such as those that reverse its direction, except the soft
 * hyphen and the joiners, which Persian and emoji need.
 */
const CHARACTERS = /^(?:\P{C}|[\u00AD\u200C\u200D])*$/u
const CHARACTERS_AND_LINES = /^(?:[\t\r\n]|\P{C}|[\u00AD\u200C\u200D])*$/u
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\s]/u

/** Text without control characters; `lines` allows line breaks and tabs. */
export function text(bounds: { min: number; max: number; lines?: boolean }) {
  const message = `must be text of ${bounds.min === 0 ? 'at most' : `${bounds.min} to`} ${bounds.max} characters`
  return (
    z
      .string({ error: message })
      .trim()
      .min(bounds.min, message)
      .max(bounds.max, message)
      .regex(bounds.lines === true ? CHARACTERS_AND_LINES : CHARACTERS, 'must not contain control characters')
      .refine((value) => bounds.min === 0 || VISIBLE.test(value), message)
      // Browsers send form lines with CRLF.
      .transform((value) => value.replace(/\r\n?/g, '\n'))
  )
}

/** A whole number in a query string. */
function queryInteger(bounds: { min: number; max: number; fallback: number }) {
  const message = `must be a whole number from ${bounds.min} to ${bounds.max}`
  return z
    .string({ error: message })
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((n) => n >= bounds.min && n <= bounds.max, message)
    .default(bounds.fallback)
    .meta({ type: 'integer', minimum: bounds.min, maximum: bounds.max, default: bounds.fallback })
}

/** An optional whole number in a query string. */
export function optionalInteger(bounds: { min: number; max: number }) {
  const message = `must be a whole number from ${bounds.min} to ${bounds.max}`
  return z
    .string({ error: message })
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((n) => n >= bounds.min && n <= bounds.max, message)
    .optional()
    .meta({ type: 'integer', minimum: bounds.min, maximum: bounds.max })
}

/** A whole number or a range of them in a query string, with a bounded number of alternatives. */
export function queryRange(bounds: { max: number; alternatives: number }) {
  const message = `must be a whole number up to ${bounds.max} or a range such as 1-3, of at most ${bounds.alternatives} numbers`
  return z
    .string({ error: message })
    .regex(/^\d{1,9}(-\d{1,9})?$/, message)
    .transform((value) => {
      const [from = '', to = from] = value.split('-')
      return { from: Number(from), to: Number(to) }
    })
    .refine(({ from, to }) => from <= to && to <= bounds.max && to - from < bounds.alternatives, message)
    .optional()
}

/** One or more values of a query string, separated by commas. */
export function queryValues(isKnown: (value: string) => boolean, message: string) {
  return z
    .string({ error: message })
    .max(500, message)
    .transform((value) => [...new Set(value.split(','))])
    .refine((values) => values.every(isKnown), message)
    .optional()
}

const paged = {
  page: queryInteger({ min: 1, max: MAX_OFFSET, fallback: 1 }),
  limit: queryInteger({ min: 1, max: 100, fallback: 25 }),
}

/** The number of items of a list without pages. */
export const itemLimit = paged.limit

/** Whether a page starts within the reach of lists. */
function isListed({ page, limit }: Page): boolean {
  return (page - 1) * limit <= MAX_OFFSET
}

const beyondList = {
  path: ['page'],
  error: `must start within the first ${MAX_OFFSET.toLocaleString('en')} items; narrow the list to reach the others`,
}

/** The page of a list: at most 100 items. Extend it with the filters of a list. */
export const pageQuery = z.object(paged).refine(isListed, beyondList)

/** The page of a torrent's files or peers, which can be read to the end. */
export const torrentPageQuery = z.object(paged)

/** The page of a tree, which clients usually read as a whole. */
export const treeQuery = z
  .object({ ...paged, limit: queryInteger({ min: 1, max: 1_000, fallback: 1_000 }) })
  .refine(isListed, beyondList)

/** A page of an in-memory list. */
export function pageOfAll<Item>(all: readonly Item[], { page, limit }: Page): Listed<Item> {
  return { items: all.slice((page - 1) * limit, page * limit), page, limit, total: all.length, totalIsExact: true }
}

/** The address of a client in a query string, as limits count it: an IPv6 address becomes its /64. */
export const addressFilter = z
  .string()
  .max(50)
  .transform((value) => plainAddress(value.replace(/^(.*:.*)\/64$/, '$1')))
  .refine((value) => isIP(value) !== 0, 'must be an IPv4 or IPv6 address, or the /64 of an IPv6 address')
  .transform(addressKey)

const timeProblem = 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z'

/** A time in a request: ISO 8601 with `Z` or an offset. `abort` skips `isTimeRange` for malformed times. */
export const givenTime = z.iso
  .datetime({ offset: true, abort: true, error: timeProblem })
  .transform((value) => new Date(value))
  // An offset can lead to the year 10000, which answers cannot contain.
  .refine((value) => value.getUTCFullYear() <= 9_999, { abort: true, error: timeProblem })

/** The parameters of a time range with an exclusive end. Check it with `isTimeRange`. */
export const timeRange = { from: givenTime.optional(), to: givenTime.optional() }

/** Whether the end of a range is after its start. */
export function isTimeRange({ from, to }: { from?: Date | undefined; to?: Date | undefined }): boolean {
  return from === undefined || to === undefined || from.getTime() < to.getTime()
}

/** The problem if `isTimeRange` is false. */
export const noTimeRange = { path: ['from'], error: 'must be before to' }

/** `true` or `false` in a query string. */
export const queryFlag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true')

const percent = (min: number, max: number) =>
  z
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

/** Percentage of downloads that is counted; 0 is freeleech. */
export const downloadPercent = percent(0, 100)
/** Percentage of uploads that is counted; 200 is double upload. */
export const uploadPercent = percent(100, 1_000)

const total = z.int().meta({ description: 'on all pages' })
const totalIsExact = z.boolean().meta({ description: 'false if there are more than `total`' })

/** The response of every list endpoint. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), page: z.int(), limit: z.int(), total, totalIsExact })
}

/** A user, by id and name. */
export const namedUser = z.object({ id: z.string(), username: z.string() })
