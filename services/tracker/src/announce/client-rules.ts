import type { PeerId } from '@vault-and-tracker/bencode-tracker'

/** Which clients may announce, by the beginning of their peer id (BEP 20) in hex. */
export type ClientRules = {
  /** When not empty, only these. */
  readonly allowed: readonly string[]
  /** Never these. */
  readonly denied: readonly string[]
}

/**
 * Makes rules of prefixes such as `-TR3` or `-qB44`.
 *
 * @param prefixes printable ASCII, as in the peer id
 */
export function clientRules(prefixes: { allowed: readonly string[]; denied: readonly string[] }): ClientRules {
  const hex = (prefix: string): string => Buffer.from(prefix, 'latin1').toString('hex')
  return { allowed: prefixes.allowed.map(hex), denied: prefixes.denied.map(hex) }
}

/** Whether a client may announce. */
export function isClientAllowed(peerId: PeerId, rules: ClientRules): boolean {
  if (rules.denied.some((prefix) => peerId.startsWith(prefix))) return false
  return rules.allowed.length === 0 || rules.allowed.some((prefix) => peerId.startsWith(prefix))
}
