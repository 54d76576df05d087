import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Without it, the clients would take the processor from the server while it stops. */
const PAUSE_MS = 20

/** Clients that send requests. */
export type Askers = {
  /** How many requests were answered so far, with any status. */
  answered(): number
  /** The codes of failures other than refused connections. Resolves when all clients have ended. */
  readonly failures: Promise<readonly string[]>
}

/**
 * Starts clients that send one request after the other until one fails, for example because the connection is refused.
 *
 * @param agentOf the agent for each request of a client; by default each request opens a connection
 */
export function askUntilRefused(
  url: string,
  clients: number,
  agentOf: (client: number) => Agent = () => new Agent({ keepAlive: false }),
): Askers {
  let answered = 0
  const ask = async (client: number): Promise<string> => {
    for (;;) {
      const code = await new Promise<string | undefined>((resolve) => {
        const failed = (error: NodeJS.ErrnoException): void => resolve(error.code ?? 'unknown')
        get(url, { agent: agentOf(client) }, (response) => {
          response.once('error', failed)
          response.resume().once('end', () => resolve(undefined))
        }).once('error', failed)
      })
      if (code !== undefined) return code
      answered++
      await sleep(PAUSE_MS)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, client) => ask(client)))
  return { answered: () => answered, failures: ended.then((codes) => codes.filter((code) => code !== 'ECONNREFUSED')) }
}
