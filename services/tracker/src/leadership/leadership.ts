/** Chooses one of several processes for work that one of them has to do. */
export type Leadership = {
  /**
   * Acquires or renews leadership.
   *
   * @returns whether this process leads for now
   * @throws what `isUnavailable` recognises when Redis is unavailable
   */
  acquire(): Promise<boolean>
  /** Gives leadership up, so that another process can acquire it at once. */
  release(): Promise<void>
}
