import { assertCount, stringText } from './bencode-text.ts'
import { FAILURES, type FailureName } from './failures.ts'

/** How a failure is answered. */
export interface FailureReplyOptions {
  /** Seconds; clients that do not know BEP 31 wait this long. */
  readonly interval: number
  /** Seconds. */
  readonly minInterval: number
  /** BEP 31: minutes, or `never`; by default what `FAILURES` says. */
  readonly retryIn?: number | 'never' | undefined
  /** Appended as `: detail`, for instance why a torrent was deleted. Control characters go, 200 characters stay. */
  readonly detail?: string | undefined
}

const MAX_DETAIL_LENGTH = 200

/**
 * The bytes of a failure (BEP 3, 31): `failure reason`, `interval`, `min interval` and `retry in`, all four always.
 * The HTTP status that goes with it is `FAILURES[name].status`.
 *
 * @throws {BencodeError} `not_encodable` when a number is not an integer from 0 to 2^53 - 1.
 */
export function failureReply(name: FailureName, options: FailureReplyOptions): Buffer {
  const { interval, minInterval } = options
  const { reason, retryIn: usual } = FAILURES[name]
  const retryIn = options.retryIn ?? usual
  const detail = options.detail === undefined ? '' : cleanDetail(options.detail)
  assertCount(interval)
  assertCount(minInterval)
  if (retryIn !== 'never') assertCount(retryIn)
  return Buffer.from(
    `d14:failure reason${stringText(detail === '' ? reason : `${reason}: ${detail}`)}` +
      `8:intervali${interval}e12:min intervali${minInterval}e` +
      `8:retry in${retryIn === 'never' ? '5:never' : `i${retryIn}e`}e`,
    'latin1',
  )
}

function cleanDetail(detail: string): string {
  return Array.from(detail.replaceAll(/\p{Cc}+/gu, ' ').trim())
    .slice(0, MAX_DETAIL_LENGTH)
    .join('')
}
