import { expect, test } from '@jest/globals'
import type { SignatureErrorCode } from '../src/index.ts'
import {
  AGENT,
  COVERED,
  check,
  craft,
  type Draft,
  fieldOf,
  outcome,
  PARAMS,
  type Situation,
  signingKey,
  withField,
} from './support.ts'

// Every request of a refusal carries a genuine signature of what it says, if possible: only the rule under test
// refuses it, and the message pins which rule that was.

/** Defines a test of each request that must be refused with this code and message. */
export function refusal(code: SignatureErrorCode, message: string) {
  return (sentence: string, changes: Partial<Draft>, situation?: Situation): void => {
    test(sentence, () => expect(outcome(() => check(craft(changes), situation))).toEqual({ code, message }))
  }
}

/** A refusal with `invalid_signature`. */
export function invalid(message: string) {
  return refusal('invalid_signature', message)
}

export const input = (params: string, covered = COVERED): Partial<Draft> => ({ input: `sig1=${covered}${params}` })
export const swap = (from: string, to: string): Partial<Draft> => input(PARAMS.replace(from, to))
export const lines = (name: string, ...values: string[]): Partial<Draft> => ({
  headers: (rawHeaders) => withField(rawHeaders, name, ...values),
})
export const twice = (name: string): Partial<Draft> => ({
  headers: (rawHeaders) => [...rawHeaders, name, fieldOf(rawHeaders, name)],
})
export const agentNamed = (agent: string): Partial<Draft> => ({
  ...swap(AGENT, agent),
  agent: `sig1=${agent};pubkey="${signingKey.publicKeyHex}"`,
})
