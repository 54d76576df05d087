import type { LogFn, Logger } from 'pino'
import { errorCode, isError } from '../core/errors.ts'
import { isUnavailable } from '../core/unavailable.ts'

const EVERY_MS = 1_000
/** Messages and reasons that are counted separately. Each is constant text, except for addresses. */
const MAX_KINDS = 20
/** The levels `warn` and `error` of pino. */
const COUNTED_LEVELS: readonly number[] = [40, 50]

/** A method of pino's hook: writes a line, or counts it. */
export type LogMethod = (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) => void

/**
 * Keeps the log readable while Postgres or Redis is unavailable, when every request and task would write a line with its
 * stack: writes the first line, counts the others, and writes their number, messages and reasons once a second.
 */
export function createOutageLog(): LogMethod {
  const messages = new Map<string, number>()
  const reasons = new Map<string, number>()
  let count = 0
  let timer: NodeJS.Timeout | undefined

  function report(logger: Logger): void {
    if (count === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const line = { count, messages: Object.fromEntries(messages), reasons: Object.fromEntries(reasons) }
    count = 0
    messages.clear()
    reasons.clear()
    logger.warn(line, 'a dependency is unavailable; further lines were omitted')
  }

  return function write(args, method, level) {
    const error = COUNTED_LEVELS.includes(level) ? errorOf(args[0]) : undefined
    if (error === undefined || !isUnavailable(error)) {
      method.apply(this, args)
      return
    }
    if (timer === undefined) {
      timer = setInterval(() => report(this), EVERY_MS).unref()
      method.apply(this, args)
      return
    }
    count += 1
    countIn(messages, typeof args[1] === 'string' ? args[1] : '')
    countIn(reasons, reasonOf(error))
  }
}

function errorOf(line: unknown): unknown {
  return typeof line === 'object' && line !== null && 'err' in line ? line.err : undefined
}

function reasonOf(error: unknown): string {
  if (!isError(error)) return ''
  const text = error.message === '' ? (errorCode(error) ?? error.name) : error.message
  return isError(error.cause) ? `${text}: ${error.cause.message}` : text
}

function countIn(counts: Map<string, number>, kind: string): void {
  const key = counts.has(kind) || counts.size < MAX_KINDS ? kind : 'others'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
