import { FAILURES, type FailureName, type TrackerAction } from '@vault-and-tracker/bencode-tracker'
import { isUnavailable } from '@vault-and-tracker/service-kit/unavailable'
import type { AnnounceCounters } from './announce-counters.ts'

/** Why an announce or a scrape was refused, and when to try again. */
export type Refusal = {
  readonly failure: FailureName
  /** Seconds. */
  readonly interval: number
  /** Seconds. */
  readonly minInterval: number
  /** BEP 31: minutes; undefined for what the table of failures says. */
  readonly retryIn: number | undefined
  readonly detail: string | undefined
}

type LimitFailure = Extract<FailureName, 'announce_limit' | 'scrape_limit' | 'passkey_limit'>

/** Creates refusals, and counts them. */
export type Refusals = {
  readonly refuse: (action: TrackerAction, failure: FailureName, detail?: string | null) => Refusal
  /** Refuses what is over a limit; `wait` in seconds. */
  readonly refuseOverLimit: (action: TrackerAction, failure: LimitFailure, wait: number) => Refusal
  /** Refuses because of an error: an unavailable dependency, or else a bug, which is reported. */
  readonly refuseError: (action: TrackerAction, error: unknown) => Refusal
}

/**
 * Creates the refusals of a tracker.
 *
 * @param options intervals in seconds; `onError` gets every error that is a bug
 */
export function createRefusals(options: {
  interval: number
  minInterval: number
  counters: AnnounceCounters
  onError: (error: unknown, action: TrackerAction) => void
}): Refusals {
  const { counters } = options

  const refuse: Refusals['refuse'] = (action, failure, detail) => {
    counters.countFailure(action, failure)
    const { retryIn } = FAILURES[failure]
    // Clients that do not know BEP 31 read the interval instead.
    const interval = retryIn === 'never' ? options.interval : Math.min(options.interval, retryIn * 60)
    const minInterval = Math.min(interval, options.minInterval)
    return { failure, interval, minInterval, retryIn: undefined, detail: detail ?? undefined }
  }

  return {
    refuse,

    refuseOverLimit: (action, failure, wait) => {
      counters.countFailure(action, failure)
      return { failure, interval: wait, minInterval: wait, retryIn: Math.ceil(wait / 60), detail: undefined }
    },

    refuseError: (action, error) => {
      if (isUnavailable(error)) return refuse(action, 'tracker_unavailable')
      options.onError(error, action)
      return refuse(action, 'internal_error')
    },
  }
}
