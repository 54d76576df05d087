import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves with the value of a promise, or with `otherwise` if that takes longer. */
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
