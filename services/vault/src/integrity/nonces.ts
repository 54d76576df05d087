/** A nonce of a key. It belongs to the key and not to a project, because a key can be registered again. */
export type Nonce = {
  readonly publicKeyHex: string
  readonly nonce: string
  /** When the request was created, in seconds since the Unix epoch. */
  readonly created: number
}

/**
 * The result of spending a nonce, the same at all replicas. A nonce that may have been lost counts as replayed. The nonce
 * of a request that was created too long before or after the time of the store is `expired`, and not spent.
 */
export type Verdict = 'unspent' | 'replayed' | 'expired'

/** An ID token or a sign-in, with the time it was issued, in seconds since the Unix epoch, and who spends it. */
export type SpentToken = { readonly digest: string; readonly issued: number; readonly by: string }

/** Remembers spent nonces for longer than any signature is valid, and notices when it has lost some. */
export type Nonces = {
  /**
   * Finds out whether nonces were lost while no replica ran; called before the first request. Requests that were signed
   * before a loss are refused.
   */
  open(): Promise<{ readonly lost: boolean }>
  /** Spends nonces in one call, and returns their verdicts in order. */
  spend(nonces: readonly Nonce[]): Promise<readonly (Verdict | Promise<Verdict>)[]>
  /**
   * Spends an ID token or a sign-in for at least `keepMs`.
   *
   * @returns false if it was spent before, or may have been: it was issued before a loss
   */
  spendToken(token: SpentToken, keepMs: number): Promise<boolean>
  /** Who spent a token, undefined if it is not remembered. */
  spenderOf(digest: string): Promise<string | undefined>
  /** Finds out whether nonces were lost since the last call, and that new ones can be written. */
  check(): Promise<void>
  /** The estimated time of the store, in milliseconds. */
  now(): number
}

/** State that survives a loss of the nonces, because it is stored in Postgres. */
export type NonceRecord = {
  /** The epoch of the nonces, which is created once and never changes. */
  epoch(): Promise<string | undefined>
  /** Stores an epoch unless there is one, and returns the stored one. */
  addEpoch(epoch: string): Promise<string>
  /** The latest time that an accepted request was dated, if it was ahead, in milliseconds. It only increases. */
  aheadUntil(): Promise<number>
  /** Raises that time and returns the stored one, which may be later. */
  raiseAhead(untilMs: number): Promise<number>
}
