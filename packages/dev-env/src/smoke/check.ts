import { eventually } from '../testing/eventually.ts'
import { answersReady } from '../world/services.ts'
import type { Compose } from './compose.ts'

/** What a check of a service works with. */
export type Check = {
  /** Where the service is. */
  url: string
  /** A name of its own for everything that this run makes. */
  runId: string
  /** The environment, and beneath it what `.env` says. */
  settings: Record<string, string | undefined>
  compose: Compose
  /** Reports a fact that holds. */
  ok: (fact: string) => void
  /** Has something that was made undone in the end, in reverse order, whatever happens. */
  later: (what: string, undo: () => unknown) => void
}

/** An error as one line; fetch hides the reason in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}

/** Waits until a service says that it is ready. */
export async function ready(url: string): Promise<void> {
  await eventually(() => answersReady(url)).catch((cause: unknown) => {
    throw new Error(`${url}/ready was not 200 within a minute`, { cause })
  })
}
