import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Key, type Signing, signHeaders } from './client.ts'

/** What clients of a vault were told while it failed. */
export type Told = {
  /** The last value of each secret whose write was acknowledged, by environment and name. */
  readonly written: Map<string, Map<string, string>>
  /** The last number that was acknowledged of those that overwrite each other, by environment. */
  readonly overwritten: Map<string, number>
  /** Fetches that were answered with values, by environment. */
  readonly fetched: Map<string, number>
  /** Requests that were accepted. */
  readonly accepted: { readonly url: string; readonly method: string; readonly headers: Record<string, string> }[]
  /** How often each status was answered; 0 stands for no answer. */
  readonly statuses: Map<number, number>
}

/** Where requests go: a vault that is down is called as well. */
export type Target = { readonly url: string }

const TIMEOUT_MS = 15_000
/** A write that is given up sooner than a fault ends must not undo the next one. */
const IMPATIENT_MS = 500
/** What every client overwrites. */
export const OVERWRITTEN = 'OVERWRITTEN'
/** Between two rounds of a client: a fault has to meet requests, not a full processor. */
const PAUSE_MS = 25

/**
 * Writes to and fetches environments of a project, each of them by one client that waits for its answers, until it is
 * told to stop.
 */
export function createLoad(deps: { project: string; key: Key; targets: readonly Target[]; clients: number }) {
  const told: Told = {
    written: new Map(),
    overwritten: new Map(),
    fetched: new Map(),
    accepted: [],
    statuses: new Map(),
  }
  const stopping = new AbortController()

  async function ask(input: Omit<Signing, 'project' | 'key'>, body?: string, timeoutMs = TIMEOUT_MS): Promise<number> {
    const { project, key } = deps
    const headers = await signHeaders({ project, key, ...input, nonce: randomBytes(16).toString('hex') })
    const init = { method: input.method, signal: AbortSignal.timeout(timeoutMs) }
    let status = 0
    try {
      const answer =
        body === undefined
          ? await fetch(input.url, { ...init, headers })
          : await fetch(input.url, { ...init, body, headers: { ...headers, 'Content-Type': 'application/json' } })
      await answer.text()
      status = answer.status
    } catch {
      // No answer: nobody knows whether the request was carried out.
    }
    told.statuses.set(status, (told.statuses.get(status) ?? 0) + 1)
    if (status === 200) told.accepted.push({ url: input.url, method: input.method, headers })
    return status
  }

  async function client(number: number): Promise<void> {
    const env = `env-${String(number)}`
    const written = new Map<string, string>()
    told.written.set(env, written)
    for (let i = 0; !stopping.signal.aborted; i++) {
      const url = `${deps.targets[i % deps.targets.length]?.url ?? ''}/v1/secrets`
      const name = `KEY_${String(i)}`
      const body = JSON.stringify({ key: name, value: String(i), env })
      if ((await ask({ method: 'PUT', url }, body)) === 200) written.set(name, String(i))
      const next = JSON.stringify({ key: OVERWRITTEN, value: String(i), env })
      if ((await ask({ method: 'PUT', url }, next, IMPATIENT_MS)) === 200) told.overwritten.set(env, i)
      if ((await ask({ method: 'GET', url: `${url}?env=${env}` })) === 200)
        told.fetched.set(env, (told.fetched.get(env) ?? 0) + 1)
      await sleep(PAUSE_MS)
    }
  }

  const running = Promise.all(Array.from({ length: deps.clients }, (_, number) => client(number)))
  return {
    told,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
