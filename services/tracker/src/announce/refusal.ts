import { FAILURES, type FailureName, type TrackerAction } from '@vault-and-tracker/bencode-tracker'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { AnnounceCounters } from './announce-counters.ts'

/** The reason for refusing an announce or a scrape, and the time to retry. */
export type Refusal = {
  readonly failure: FailureName
  /** In seconds. */
  readonly interval: number
  /** In seconds. */
  readonly minInterval: number
  /** In minutes (BEP 31); undefined for the default of the failure. */
  readonly retryIn: number | undefined
  readonly detail: string | undefined
}

type LimitFailure = Extract<FailureName, 'announce_limit' | 'scrape_limit' | 'passkey_limit'>

/** Creates and counts refusals. */
export type Refusals = {
  readonly refuse: (action: TrackerAction, failure: FailureName, detail?: string | null) => Refusal
  /** Refuses a request over a limit; `wait` in seconds. */
  readonly refuseOverLimit: (action: TrackerAction, failure: LimitFailure, wait: number) => Refusal
  /** Refuses a request because of an error. Errors other than an unavailable dependency are bugs and are reported. */
  readonly refuseError: (action: TrackerAction, error: unknown) => Refusal
}

/**
 * Creates the refusals of a tracker.
 *
 * @param options intervals in seconds; `onError` receives every error that is a bug
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
    // Clients without BEP 31 use the interval instead.
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
