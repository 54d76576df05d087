import { Agent, get } from 'node:http'

/** Clients at work. */
export type Askers = {
  /** How many requests were answered so far, whatever the status. */
  answered(): number
  /** The codes of what failed otherwise than by a connection that was refused; once all clients have ended. */
  readonly failures: Promise<readonly string[]>
}

/**
 * Clients that send one request after the other until one fails, such as by a connection that is refused.
 *
 * @param agentOf the agent of each request of a client; one without keep-alive opens a connection for each
 */
export function askUntilRefused(
  url: string,
  clients: number,
  agentOf: (client: number) => Agent = () => new Agent({ keepAlive: false }),
): Askers {
  const failures: string[] = []
  let answered = 0
  const ask = async (client: number): Promise<void> => {
    for (;;) {
      try {
        await answerTo(url, agentOf(client))
        answered++
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
        if (code !== 'ECONNREFUSED') failures.push(code)
        return
      }
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, client) => ask(client)))
  return { answered: () => answered, failures: ended.then(() => failures) }
}

function answerTo(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.once('error', reject)
      response.resume().once('end', () => resolve())
    }).once('error', reject)
  })
}
