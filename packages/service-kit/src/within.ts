import { setTimeout as sleep } from 'node:timers/promises'

/** What a promise resolves with, or something else where that takes longer. The timer ends with the promise. */
export async function within<Value, Otherwise>(
  ms: number,
  promise: Promise<Value>,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  const done = new AbortController()
  try {
    return await Promise.race([promise, sleep(ms, otherwise, { signal: done.signal }).catch(() => otherwise)])
  } finally {
    done.abort()
  }
}
