import { createBatcher } from '@vault-and-tracker/service-kit/core/batch'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ProjectCaller } from '../access/project-caller.ts'
import type { AuthenticRows, StoredEnvironment } from '../integrity/rows.ts'
import type { Fetched } from '../secrets/fetches.ts'
import type { ProjectSecrets } from '../secrets/project-secrets.ts'
import type { Stale } from '../secrets/secrets.ts'
import type { SignedRequests } from '../signed-requests/signed-requests.ts'
import { createChangeHistory, type EnvironmentState, type StateReferences, stateOf } from './history.ts'
import { createWaitingClients, placeOf } from './waiting.ts'

/** A request for the state of an environment; keys are omitted if its codes are the known ones. */
export type StateQuestion = {
  readonly caller: ProjectCaller
  readonly env: string
  readonly now: Date
  readonly knownCodes: Buffer | null
}

/** An environment and its ancestors, the nearest first, without their keys if their codes are the known ones. */
export type StoredState = {
  readonly levels: readonly StoredEnvironment[]
  readonly isKnown: boolean
  /** Whether a value may refer to others. */
  readonly refers: boolean
}

/** The states of environments. */
export type StateStore = {
  /** Returns the state of the environment of each caller, in order, in one statement. Nothing is audited. */
  readStates(questions: readonly StateQuestion[]): Promise<readonly (StoredState | Stale)[]>
  /** Returns what the values of environments refer to, in order, in one statement. */
  readReferences(
    places: readonly { readonly projectUid: string; readonly env: string }[],
  ): Promise<readonly StateReferences[]>
}

/** Tells all replicas that an environment changed, see `placeOf`. */
export type Announcements = {
  /** Called after the commit. Never fails: without an announcement, clients see the change when their time is up. */
  announce(place: string): void
  /** Sets the receiver of this process. `onMissed` is called when announcements may have been lost. */
  subscribe(handlers: { readonly onChange: (place: string) => void; readonly onMissed: () => void }): void
}

/** The changes of an environment since a version. */
export type Changes = {
  readonly version: string
  /** The keys whose values changed or were removed; all keys if the vault does not know. */
  readonly changed: readonly string[]
  readonly values?: Fetched['json']
}

type Question = {
  readonly env: string
  /** The version that the client knows. */
  readonly since: string | undefined
  readonly values: boolean
  readonly waitMs: number
}

/**
 * Callers share statements. The bounds are far above what is ready at a time: only after a change, or when announcements
 * were missed, all waiting clients ask at once.
 */
const BATCHES = { concurrency: 2, maxBatchSize: 256, lingerMs: 4 }

/** Much may refer to much, so fewer callers share a statement. */
const REFERENCES = { ...BATCHES, maxBatchSize: 16, isReady: () => true }

/** In this process. A waiting client takes 23 KB (docs/performance.md). */
const LIMITS = { perProject: 1_000, total: 5_000 }

/** Tells applications which secrets changed. */
export type ChangesOfSecrets = ReturnType<typeof createChanges>

/**
 * Answers with the changes of an environment, and waits for them if there are none. Whatever was announced, the answer is
 * read from Postgres, where the caller's key is checked again.
 */
export function createChanges(deps: {
  store: StateStore
  rows: Pick<AuthenticRows, 'assertInheritance'>
  projectSecrets: Pick<ProjectSecrets, 'fetch' | 'whileCurrent'>
  signedRequests: Pick<SignedRequests, 'countPendingFetches'>
  announcements: Pick<Announcements, 'subscribe'>
  clock: Clock
}) {
  const { store, rows, projectSecrets, signedRequests, announcements, clock } = deps
  const waiting = createWaitingClients(LIMITS)
  const history = createChangeHistory()
  announcements.subscribe({ onChange: waiting.wake, onMissed: waiting.wakeAll })

  type Asked = Omit<StateQuestion, 'knownCodes'>

  async function readTogether(asked: readonly Asked[]): Promise<readonly (Stale | Promise<EnvironmentState>)[]> {
    const known = asked.map(({ caller, env }) => history.find(placeOf(caller.projectUid, env)))
    const found = await store.readStates(
      asked.map((each, i) => ({
        ...each,
        // Its own codes do not cover what it refers to.
        knownCodes: known[i]?.references === undefined ? (known[i]?.codes ?? null) : null,
      })),
    )
    const states = new Map<StoredState, Promise<EnvironmentState>>()
    return asked.map((each, i) => {
      const stored = found[i]
      if (stored === undefined || stored === 'stale') return 'stale'
      // An environment that is not authentic fails its own callers only.
      const state = states.get(stored) ?? authenticate(each, stored, known[i])
      states.set(stored, state)
      return state
    })
  }

  /**
   * The known state was authenticated together with its codes. Most environments refer to nothing, and neither need another
   * statement nor wait for those of others.
   */
  async function authenticate(
    { caller: { projectUid }, env }: Asked,
    { levels, isKnown, refers }: StoredState,
    known: EnvironmentState | undefined,
  ): Promise<EnvironmentState> {
    const references = refers ? await readReferences({ projectUid, env }) : undefined
    if (isKnown && known !== undefined && references === undefined) return known
    rows.assertInheritance(levels)
    return noted(projectUid, env, stateOf(levels, references))
  }

  function noted(projectUid: string, env: string, state: EnvironmentState): EnvironmentState {
    history.note(placeOf(projectUid, env), state)
    return state
  }

  const readReferences = createBatcher(
    (places: Parameters<StateStore['readReferences']>[0]) => store.readReferences(places),
    REFERENCES,
  )

  const read = createBatcher<Asked, EnvironmentState | Stale>(readTogether, {
    ...BATCHES,
    isReady: () => signedRequests.countPendingFetches() === 0,
  })

  /** Follows the caller from one confirmation to the next, so that a changed project is not confirmed for each step. */
  function createReader(first: ProjectCaller, env: string) {
    let caller = first
    return {
      state: () =>
        projectSecrets.whileCurrent(caller, { access: 'read', env }, (current) => {
          caller = current
          return read({ caller, env, now: new Date(clock.now()) })
        }),
      // What the values refer to was read before them, so a change in between is reported next time.
      fetch: async ({ references }: EnvironmentState) => {
        const fetched = await projectSecrets.fetch(caller, env)
        return { state: noted(caller.projectUid, env, stateOf(fetched.read.levels, references)), values: fetched.json }
      },
      changedSince: (since: string | undefined, state: EnvironmentState) =>
        history.changedSince(placeOf(caller.projectUid, env), since, state),
    }
  }

  async function present(
    reader: ReturnType<typeof createReader>,
    { since, values }: Question,
    state: EnvironmentState,
  ): Promise<Changes> {
    if (!values) return { version: state.version, changed: reader.changedSince(since, state) }
    // The values may be newer than the state, but never older.
    const fetched = await reader.fetch(state)
    const { version } = fetched.state
    return { version, changed: reader.changedSince(since, fetched.state), values: fetched.values }
  }

  return {
    /** How many clients wait. */
    countWaiting: waiting.count,

    /** Answers all waiting clients, because the service stops. */
    stop: waiting.stop,

    /**
     * Returns the changes since a version: at once if the environment has another one, or when it changes, or no changes
     * after the given time. Without a version, everything has changed.
     *
     * @throws ApiError forbidden, unknown_project, invalid_signature, decryption_failed, unavailable
     */
    since: async (caller: ProjectCaller, question: Question): Promise<Changes> => {
      const { env, since, waitMs } = question
      const gone = caller.wanted?.signal
      const reader = createReader(caller, env)
      if (since === undefined) return present(reader, question, await reader.state())
      // Before the first read, so that a change right after it wakes the client.
      const waiter = waiting.enter({ projectUid: caller.projectUid, env, gone })
      try {
        const until = performance.now() + waitMs
        for (let isOver = false; ; ) {
          const state = await reader.state()
          if (state.version !== since) return await present(reader, question, state)
          // What it inherits or refers to may have changed before it waited for that.
          if (waiter.follow(state.reads.map(({ projectUid, env: read }) => placeOf(projectUid, read)))) continue
          if (isOver) return { version: since, changed: [] }
          isOver = (await waiter.next(until - performance.now())) === 'over'
          // Nobody reads the answer.
          if (gone?.aborted === true) return { version: since, changed: [] }
        }
      } finally {
        waiter.leave()
      }
    },
  }
}
