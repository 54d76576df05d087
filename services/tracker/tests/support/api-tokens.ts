import type { Scope } from '../../src/tokens/scopes.ts'
import type { Answer, Client } from './client.ts'
import { PASSWORD } from './tracker.ts'

let created = 0

/** Creates an API token with a name of its own, as a member does. */
export async function createToken(
  client: Client,
  scopes: readonly Scope[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ id: string; token: string }> {
  created += 1
  const answer = await client.post('/api/tokens', {
    ...{ name: `Token ${String(created)}`, scopes, password: PASSWORD },
    ...more,
  })
  if (answer.status !== 201) throw new Error(`no token: ${answer.text}`)
  return { id: answer.member('id'), token: answer.member('token') }
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** The status of a refusal with its message. */
export function refusalIn(answer: Answer): readonly [number, string] {
  return [answer.status, answer.member('error', 'message')]
}
