/** An announce that succeeds with a `warning message`, because clients would repeat it after a failure. */
export type WarningDefinition = {
  /** The message for clients: a short fixed English sentence. */
  readonly message: string
  /** Seconds for `interval` and `min interval`; `undefined` for the usual interval. */
  readonly interval: number | undefined
}

/** All warnings by their stable names. */
export const WARNINGS = {
  // Transmission repeats `stopped` until it succeeds, so a failure here would never end.
  stopped_unknown_peer: { message: 'This peer was not known, so there was nothing to stop', interval: undefined },
  // Short, so that an uploader starts soon after the approval.
  pending_moderation: { message: 'This torrent is waiting for moderation', interval: 30 },
  // Some clients announce twice by mistake; the caller sends what is left of the minimum interval.
  announce_too_soon: { message: 'Announced too soon: the minimum interval has not passed', interval: undefined },
  over_announce_limit: { message: 'Too many announces: no peers this time', interval: undefined },
  slots_full: { message: 'You run too many clients on this torrent', interval: undefined },
} as const satisfies Readonly<Record<string, WarningDefinition>>

export type WarningName = keyof typeof WARNINGS
