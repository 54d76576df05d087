/** One case in which an announce succeeds with a `warning message`, because a failure would make clients retry. */
export type WarningDefinition = {
  /** What the client shows: a short fixed English sentence. */
  readonly message: string
  /** Seconds to send as `interval` and `min interval`; `undefined` where the usual interval fits. */
  readonly interval: number | undefined
}

/** Every warning there is, by its stable name. */
export const WARNINGS = {
  // Transmission repeats `stopped` until it succeeds, so a failure here would never end.
  stopped_unknown_peer: { message: 'This peer was not known, so there was nothing to stop', interval: undefined },
  // Short, so that an uploader starts soon after the approval.
  pending_moderation: { message: 'This torrent is waiting for moderation', interval: 30 },
  // Some clients announce twice by mistake; the caller sends what is left of the minimum interval.
  announce_too_soon: { message: 'Announced too soon: the minimum interval has not passed', interval: undefined },
  slots_full: { message: 'You run too many clients on this torrent', interval: undefined },
} as const satisfies Readonly<Record<string, WarningDefinition>>

/** The closed set of names of warnings. */
export type WarningName = keyof typeof WARNINGS
