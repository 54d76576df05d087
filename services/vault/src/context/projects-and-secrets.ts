import { createAdministratorStore } from '../admin/administrators.store.ts'
import { createAdministrators } from '../admin/administrators.ts'
import { createAuditStore } from '../audit/audit.store.ts'
import { createChanges } from '../changes/changes.ts'
import { createStateStore } from '../changes/state.store.ts'
import { placeOf } from '../changes/waiting.ts'
import { afterCommit } from '../database.ts'
import { createInheritanceStore } from '../inheritance/inheritance.store.ts'
import { createInheritance } from '../inheritance/inheritance.ts'
import { createDataKeys } from '../keyring/data-keys.ts'
import { createDataKeyStore } from '../keyring/keyring.store.ts'
import { createOwnerTurns } from '../limits/owner-turns.ts'
import { createKeyUseStore, createProjectStore } from '../projects/projects.store.ts'
import { createProjects } from '../projects/projects.ts'
import { createKeyUses, createSigningProjects } from '../projects/signing-projects.ts'
import { createReferenceRuleStore } from '../references/reference-rules.store.ts'
import { createReferenceRules } from '../references/reference-rules.ts'
import { createCopyStore } from '../secrets/copies.store.ts'
import { createCopies } from '../secrets/copies.ts'
import { createThreadTurns } from '../secrets/decryption-queue.ts'
import type { OnEnvironmentChange } from '../secrets/environment-changes.store.ts'
import { createFetchStore } from '../secrets/fetches.store.ts'
import { createFetches } from '../secrets/fetches.ts'
import { createProjectSecrets } from '../secrets/project-secrets.ts'
import { createReferenceChecks } from '../secrets/reference-checks.ts'
import { createReferencedStore, referencedStoreOf } from '../secrets/referenced.store.ts'
import { createResolution } from '../secrets/resolution.ts'
import { createSecretStore } from '../secrets/secrets.store.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { createValues } from '../secrets/values.ts'
import { createSignedRequests } from '../signed-requests/signed-requests.ts'
import { inheritanceEvent, keyEvent, secretEvent } from '../webhooks/events.ts'
import { insertEvent } from '../webhooks/outbox.store.ts'
import type { Connections } from './connections.ts'
import { createExchangeParts } from './exchange.ts'
import { createWebhookParts } from './webhooks.ts'

/** How far `lastUsedAt` of a key may be behind. */
const NOTE_USES_EVERY_MS = 10_000

/** Connections to Postgres that writes do not use. */
const FOR_READS = 2

/** Data keys stay in memory for up to six minutes after they were unwrapped. */
const DROP_KEYS_EVERY_MS = 60_000
/** How many bytes of references are resolved before other requests have their turn: a few milliseconds. */
const RESOLVED_PER_TURN = 256 * 1024
/** Retries bindings that failed. */
const BIND_EVERY_MS = 60_000

/** Projects and secrets. */
export type ProjectsAndSecrets = Awaited<ReturnType<typeof createProjectsAndSecrets>>

/** Creates projects, their secrets, the checks of their signed requests, and the administrators. */
export async function createProjectsAndSecrets(connections: Connections) {
  const { config, keyring, rows, pool, db, nonces, announcements, clock, sharedClock, logger, metrics, background } =
    connections
  const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
  background.add({
    everyMs: DROP_KEYS_EVERY_MS,
    task: () => dataKeys.dropStale(),
    onError: (error) => logger.error({ err: error }, 'removing expired data keys from memory failed'),
  })

  const onUnbound = (error: unknown) =>
    logger.warn({ err: error }, 'binding administrators to projects failed; will retry')
  const administrators = createAdministrators({ store: createAdministratorStore(db), rows, clock, onUnbound })
  // Binds the administrators of an earlier release, or of a replica of one.
  await administrators.bindUnbound()
  background.add({ everyMs: BIND_EVERY_MS, task: () => administrators.bindUnbound(), onError: onUnbound })

  const inTurn = createOwnerTurns(
    Math.max(1, config.DATABASE_POOL_SIZE - FOR_READS),
    'Too many writes are waiting. Try again in a moment.',
  )
  const projectStore = createProjectStore(db, async (trx, project, entry) => {
    const event = keyEvent(project.name, entry)
    if (event !== undefined) await insertEvent(trx, rows, project.uid, event, new Date(sharedClock.now()))
  })
  const signingProjects = createSigningProjects({ store: projectStore, rows, clock })
  const projects = createProjects({
    ...{ store: projectStore, rows, dataKeys, administrators, signingProjects, inTurn, clock },
  })

  const keyUses = createKeyUses({ store: createKeyUseStore(db), clock })
  const onNoteError = (error: unknown) => logger.warn({ err: error }, 'storing key uses failed')
  background.add({
    everyMs: NOTE_USES_EVERY_MS,
    task: keyUses.flush,
    onError: onNoteError,
    atStop: () => keyUses.flush().catch(onNoteError),
  })
  const signedRequests = createSignedRequests({
    ...{ signingProjects, nonces, keyUses, clock },
    onEndedKey: metrics.endedKeyUsed,
  })
  metrics.observePendingFetches(signedRequests.countPendingFetches)

  const limits = {
    environmentBytes: config.MAX_ENVIRONMENT_BYTES,
    secrets: config.MAX_SECRETS,
    environments: config.MAX_ENVIRONMENTS,
    versions: config.MAX_VERSIONS,
  }
  const onChange: OnEnvironmentChange = async (trx, { project, env, secrets: changed, entry }) => {
    afterCommit(trx, () => announcements.announce(placeOf(project.uid, env)))
    if (entry === undefined) return
    const event =
      entry.action === 'inherit' ? inheritanceEvent(project.name, entry) : secretEvent(project.name, entry, changed)
    if (event !== undefined) await insertEvent(trx, rows, project.uid, event, new Date(sharedClock.now()))
    await requireResolved({ project, env, secrets: changed }, referencedStoreOf(trx))
  }
  const store = createSecretStore(db, rows, limits, onChange)
  const values = createValues({
    dataKeys,
    store,
    onDecryptionError: (error, place) => {
      metrics.decryptionFailed()
      logger.error({ err: error, ...place }, 'a stored value does not decrypt')
    },
  })
  const stored = createReferencedStore(db, pool)
  const threadTurn = createThreadTurns(RESOLVED_PER_TURN)
  const resolve = createResolution({
    ...{ store: stored, values, rows, threadTurn, maxBytes: limits.environmentBytes },
  })
  const requireResolved = createReferenceChecks({ stored, resolve, values, rows, threadTurn })
  const secrets = createSecrets({ store, values, clock, inTurn })
  const referenceRules = createReferenceRules({ store: createReferenceRuleStore(db), rows, inTurn, clock })
  const copyStore = createCopyStore(db, rows, limits, onChange)
  const copies = createCopies({ store: copyStore, projects: store, values, clock, inTurn })
  const inheritance = createInheritance({
    ...{ store: createInheritanceStore(db, rows, limits, onChange), projects: store, clock, inTurn },
  })
  const fetches = createFetches({
    ...{
      store: createFetchStore(pool),
      resolve,
      audit: createAuditStore(db),
      values,
      rows,
      signedRequests,
      clock,
      limits,
    },
  })
  const projectSecrets = createProjectSecrets({ secrets, fetches, signedRequests })
  const changes = createChanges({
    ...{ store: createStateStore(pool), rows, projectSecrets, signedRequests, announcements, clock },
  })
  metrics.observeWaitingClients(changes.countWaiting)
  const exchange = createExchangeParts(connections, inTurn)
  const webhooks = await createWebhookParts(connections, inTurn)
  return {
    useCases: {
      ...{ administrators, projects, secrets, copies, inheritance, referenceRules, projectSecrets, changes },
      ...exchange,
      ...webhooks,
    },
    signedRequests,
  }
}
