import { apiError } from '../errors.ts'

type State = 'active' | 'suspended' | 'banned'
type Stored = { readonly state: State; readonly suspended_until: Date | null }
type Excluded = { readonly state: State; readonly stateReason: string | null; readonly suspendedUntil: Date | null }

/** The state of a stored account at a time in milliseconds: a suspension ends by itself. */
export function stateAt({ state, suspended_until: until }: Stored, now: number): State {
  return state === 'suspended' && until !== null && until.getTime() <= now ? 'active' : state
}

/** Why an account cannot be used, with the end of a suspension; undefined if it can. */
export function refusalOf({ state, stateReason, suspendedUntil }: Excluded): Error | undefined {
  if (state === 'active') return undefined
  const until =
    suspendedUntil === null ? '' : ` until ${suspendedUntil.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const reason = stateReason === null ? '' : ` Reason: ${stateReason}`
  return apiError('FORBIDDEN', `This account is ${state}${until}.${reason}`)
}
