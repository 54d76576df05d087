import { BencodeWriter } from '../bencode/writer.ts'
import { FAILURES, type FailureName } from './failure-table.ts'

export type FailureReplyOptions = {
  /** Seconds that clients without BEP 31 wait. */
  readonly interval: number
  /** Seconds. */
  readonly minInterval: number
  /** BEP 31: minutes, or `never`; the default is in `FAILURES`. */
  readonly retryIn?: number | 'never' | undefined
  /**
   * Appended as `: detail`, for example why a torrent was deleted. Without control characters, at most 200 characters.
   */
  readonly detail?: string | undefined
}

const MAX_DETAIL_LENGTH = 200

const FAILURE_REASON = Buffer.from('d14:failure reason', 'latin1')
const INTERVAL = Buffer.from('8:interval', 'latin1')
const MIN_INTERVAL = Buffer.from('12:min interval', 'latin1')
const RETRY_IN = Buffer.from('8:retry in', 'latin1')
const END = Buffer.from('e', 'latin1')
const CAPACITY = 192

/**
 * Encodes a failure (BEP 3, 31), always with `failure reason`, `interval`, `min interval` and `retry in`. The HTTP
 * status is `FAILURES[name].status`.
 *
 * @throws {BencodeError} `not_encodable` if a number is not an integer from 0 to 2^53 - 1.
 */
export function failureReply(name: FailureName, options: FailureReplyOptions): Buffer {
  const retryIn = options.retryIn ?? FAILURES[name].retryIn
  const writer = new BencodeWriter(CAPACITY)
  writer.raw(FAILURE_REASON)
  writer.text(failureReason(name, options.detail))
  writer.raw(INTERVAL)
  writer.count(options.interval)
  writer.raw(MIN_INTERVAL)
  writer.count(options.minInterval)
  writer.raw(RETRY_IN)
  if (retryIn === 'never') writer.latin1(retryIn)
  else writer.count(retryIn)
  writer.raw(END)
  return writer.finish()
}

/**
 * The message of a failure for clients.
 *
 * @param detail appended as `: detail`, without control characters, at most 200 characters
 */
export function failureReason(name: FailureName, detail = ''): string {
  const { reason } = FAILURES[name]
  const cleaned = cleanDetail(detail)
  return cleaned === '' ? reason : `${reason}: ${cleaned}`
}

function cleanDetail(detail: string): string {
  return Array.from(detail.replaceAll(/\p{Cc}+/gu, ' ').trim())
    .slice(0, MAX_DETAIL_LENGTH)
    .join('')
}
