/** Whether nonces were lost since the last call: then what was signed before is refused from now on. */
export type Checked = { readonly lost: boolean }

/** What remembers spent nonces, and tells when it has lost some. */
export type MemoryKeeper = {
  /**
   * Finds out what was lost while no replica ran, and remembers under an epoch from then on.
   *
   * @param epoch the one that the database knows; undefined when it knows none: then what is remembered is complete
   * @returns the epoch that is remembered under, a new one where there was none
   */
  open(epoch: string | undefined): Promise<Checked & { readonly epoch: string }>
  /** Finds out whether something was lost while this replica runs, and that nonces can be written. */
  check(): Promise<Checked>
}

/** The epoch in the database. It is made once and never changes. */
export type EpochStore = {
  read(): Promise<string | undefined>
  /** Stores an epoch unless there is one. Returns the one that is stored. */
  add(epoch: string): Promise<string>
}

/**
 * Up to which time requests were dated ahead, in milliseconds, where the nonces are not. It only grows: what was accepted
 * and lost was not dated later.
 */
export type AheadRecord = {
  read(): Promise<number>
  /** @returns what is recorded then, which is not less */
  raise(untilMs: number): Promise<number>
}

/** Keeps watch over the memory of spent nonces. */
export type NonceMemory = {
  /** To be called before the first request. */
  open(): Promise<Checked>
  /** To be called in short intervals, so that a loss is noticed where no request notices it. */
  check(): Promise<void>
}

/**
 * Tells a store that has never held nonces from one that has lost them: the database knows the epoch of the nonces from
 * the first start on. Where neither knows one, both are new, and nothing can have been spent.
 *
 * The new epoch is in Redis before it is in the database, and no request is accepted before it is in both. A start that
 * is interrupted in between, or that another replica makes at the same time, goes on with what is there.
 */
export function createNonceMemory(deps: { keeper: MemoryKeeper; epochs: EpochStore; onLoss: () => void }): NonceMemory {
  const { keeper, epochs, onLoss } = deps

  async function open(): Promise<Checked> {
    const known = await epochs.read()
    const { epoch, lost } = await keeper.open(known)
    if (lost) onLoss()
    return known !== undefined || (await epochs.add(epoch)) === epoch ? { lost } : open()
  }

  return {
    open,
    check: async () => {
      const { lost } = await keeper.check()
      if (!lost) return
      onLoss()
      // The database may be another one than at the start: replicas with different epochs would never agree.
      await open()
    },
  }
}
