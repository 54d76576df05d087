/** Elects one of several processes for work that only one has to do. */
export type Leadership = {
  /**
   * Acquires or renews leadership.
   *
   * @returns whether this process leads
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  acquire(): Promise<boolean>
  /** Releases leadership, so that another process can acquire it immediately. */
  release(): Promise<void>
}
