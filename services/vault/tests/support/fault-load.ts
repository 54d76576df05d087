import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Key, type Signing, signHeaders } from './client.ts'

/** The responses that clients of a failing vault received. */
export type Told = {
  /** The last acknowledged value of each secret, by environment and name. */
  readonly written: Map<string, Map<string, string>>
  /** The last acknowledged number of the shared secret, by environment. */
  readonly overwritten: Map<string, number>
  /** Successful fetches, by environment. */
  readonly fetched: Map<string, number>
  /** Accepted requests. */
  readonly accepted: { readonly url: string; readonly method: string; readonly headers: Record<string, string> }[]
  /** The number of responses by status; 0 for no response. */
  readonly statuses: Map<number, number>
}

/** The vaults that requests are sent to, including stopped ones. */
export type Target = { readonly url: string }

const TIMEOUT_MS = 15_000
/** A write that is given up before a fault ends must not undo the next one. */
const IMPATIENT_MS = 500
/** The secret that every client overwrites. */
export const OVERWRITTEN = 'OVERWRITTEN'
/** Pauses clients, so that faults meet requests rather than a busy processor. */
const PAUSE_MS = 25

/**
 * Writes and fetches the environments of a project until it is stopped, with one sequential client per environment.
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
      // Without a response, the request may have been carried out.
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
