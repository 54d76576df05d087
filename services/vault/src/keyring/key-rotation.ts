import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { BY_COMMAND, type NewEntry, newEntry } from '../audit/audit.ts'
import { chainKeyOwner, type StoredChainKey } from './chain-keys.ts'
import { type DataKeys, dataKeyOwner, type StoredDataKey } from './data-keys.ts'
import { DecryptionError, decryptValue, encryptValue, formatOf, type ValuePlace } from './envelope.ts'
import type { KnownKek } from './key-check.ts'
import { type Keyring, KeyringError, rewrapKeys, type WrappedKey } from './keyring.ts'

/** A data key with its project. */
export type ProjectDataKey = StoredDataKey & { readonly projectUid: string; readonly project: string }

/** A stored value to encrypt again with the newest data key of its project. */
export type ValueToReencrypt = {
  readonly place: ValuePlace
  readonly project: string
  readonly blob: Buffer
  readonly from: StoredDataKey
  readonly to: StoredDataKey
}

/** A key-encryption key and how many keys it wraps, including those of the audit chain. */
export type KekUsage = KnownKek & { readonly wraps: number }

/** `oldest` is when the oldest of the projects' newest data keys was created. */
export type DataKeyUsage = {
  readonly projects: number
  readonly dataKeys: number
  readonly valuesBehind: number
  readonly oldest: Date | null
}

/**
 * The store of key rotation. Every method is one transaction. Those with a `limit` skip rows locked by other commands, so
 * that several commands share the work.
 */
export type KeyRotationStore = {
  kekUsage(): Promise<readonly KekUsage[]>
  dataKeyUsage(): Promise<DataKeyUsage>
  /** Rewraps up to `limit` data keys that another key-encryption key wraps, and returns how many. */
  rewrapDataKeys(
    activeId: string,
    limit: number,
    rewrap: (keys: readonly ProjectDataKey[]) => Promise<readonly WrappedKey[]>,
    entryFor: (key: ProjectDataKey) => NewEntry,
  ): Promise<number>
  /** Rewraps all keys of the audit chain that another key-encryption key wraps, and returns how many. */
  rewrapChainKeys(
    activeId: string,
    rewrap: (keys: readonly StoredChainKey[]) => Promise<readonly WrappedKey[]>,
  ): Promise<number>
  /** Counts data keys that another key-encryption key wraps. */
  countDataKeysToRewrap(activeId: string): Promise<number>
  /** Adds a data key to up to `limit` projects whose newest one is older, or was used more often, than the limits. */
  renewDataKeys(
    limits: { before: Date; encryptions: number },
    limit: number,
    now: Date,
    create: (projectUid: string, dekV: number) => Promise<StoredDataKey>,
    entryFor: (dekV: number) => NewEntry,
  ): Promise<number>
  /**
   * Reencrypts up to `limit` values that do not use the newest data key of their project, in the order of project uids
   * from `fromUid` on. `last` is the uid of the last project.
   */
  reencryptValues(
    fromUid: string,
    limit: number,
    reencrypt: (value: ValueToReencrypt) => Promise<Buffer>,
  ): Promise<{ moved: number; last: string | undefined }>
  /** Counts values that do not use the newest data key of their project. */
  countValuesToReencrypt(): Promise<number>
  /** Deletes unused data keys whose successor was created before a time, and returns how many. */
  deleteUnusedDataKeys(successorBefore: Date): Promise<number>
  /** Marks a key-encryption key as retired unless it wraps a key. */
  retire(id: string, now: Date): Promise<'retired' | 'in use' | 'unknown'>
}

/** Key rotation as operators use it. */
export type KeyRotation = ReturnType<typeof createKeyRotation>

const REWRAP_BATCH = 500
const REENCRYPT_BATCH = 200
/** Far below the 2^32 encryptions that NIST SP 800-38D section 8.3 allows under one key with random nonces. */
const MAX_ENCRYPTIONS = 2 ** 30
/** A fetch may still have rows that it read before they were reencrypted. */
const DELETE_AFTER_MS = 600_000
const DAY_MS = 86_400_000
const FIRST_UID = '00000000-0000-0000-0000-000000000000'

/** Rewraps and renews data keys, and retires key-encryption keys, while the service runs. */
export function createKeyRotation(deps: {
  keyring: Keyring
  store: KeyRotationStore
  dataKeys: DataKeys
  clock: Clock
}) {
  const { keyring, store, dataKeys, clock } = deps

  async function reencrypt({ place, project, blob, from, to }: ValueToReencrypt): Promise<Buffer> {
    try {
      const value = decryptValue(await dataKeys.unwrap(place.projectUid, from), place, blob)
      return encryptValue(await dataKeys.unwrap(place.projectUid, to), to.dekV, place, value, formatOf(blob))
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      const { env, key, version } = place
      const what = `version ${version} of ${JSON.stringify(key)} in ${env} of project ${project}`
      throw new KeyringError([`${what} does not decrypt; restore it or delete the secret, then run again`], {
        cause: error,
      })
    }
  }

  return {
    /** Returns the known key-encryption keys, and how many data keys and values depend on them. */
    status: async () => ({
      activeId: keyring.activeId,
      keks: await store.kekUsage(),
      inKeyring: [...keyring.keys.values()].map(({ id, fingerprint }) => ({ id, fingerprint })),
      ...(await store.dataKeyUsage()),
    }),

    /** @throws KeyringError if the key is retired */
    assertNotRetired: async (id: string): Promise<void> => {
      const kek = (await store.kekUsage()).find((known) => known.id === id)
      if (kek?.retired === true) throw new KeyringError([`key ${id} is retired`])
    },

    /** Wraps every data key with the active key-encryption key. It can be interrupted and run again at any time. */
    rewrap: async (): Promise<{ rewrapped: number }> => {
      let total = await store.rewrapChainKeys(keyring.activeId, (keys) =>
        rewrapKeys(
          keyring,
          keys.map((key) => ({ ...key, owner: chainKeyOwner(key.keyNo) })),
        ),
      )
      const rewrapDataKeys = (keys: readonly ProjectDataKey[]) =>
        rewrapKeys(
          keyring,
          keys.map((key) => ({ ...key, owner: dataKeyOwner(key.projectUid, key.dekV) })),
        )
      const entryFor = (key: ProjectDataKey) =>
        newEntry(clock, {
          action: 'key.rewrap',
          by: BY_COMMAND,
          detail: { dekV: key.dekV, from: key.kekId, to: keyring.activeId },
        })
      await repeatUntilDone(
        async () => {
          const done = await store.rewrapDataKeys(keyring.activeId, REWRAP_BATCH, rewrapDataKeys, entryFor)
          total += done
          return done
        },
        () => store.countDataKeysToRewrap(keyring.activeId),
      )
      return { rewrapped: total }
    },

    /**
     * Creates new data keys for projects, reencrypts their values and deletes unused data keys. It can be interrupted at
     * any time; the next run continues.
     *
     * @param olderThanDays younger data keys are kept unless they were used too often
     */
    renew: async (olderThanDays: number): Promise<{ renewed: number; moved: number; dropped: number }> => {
      const now = clock.now()
      const limits = { before: new Date(now - olderThanDays * DAY_MS), encryptions: MAX_ENCRYPTIONS }
      const entryFor = (dekV: number) => newEntry(clock, { action: 'key.rotate', by: BY_COMMAND, detail: { dekV } })
      const result = { renewed: 0, moved: 0, dropped: 0 }
      const create = (projectUid: string, dekV: number) => dataKeys.create(projectUid, dekV)
      let renewed: number
      do {
        renewed = await store.renewDataKeys(limits, REWRAP_BATCH, new Date(now), create, entryFor)
        result.renewed += renewed
      } while (renewed > 0)
      // In the order of projects, so that no batch reads finished projects again.
      let from = FIRST_UID
      await repeatUntilDone(
        async () => {
          const { moved, last } = await store.reencryptValues(from, REENCRYPT_BATCH, reencrypt)
          result.moved += moved
          from = last ?? FIRST_UID
          return moved
        },
        () => store.countValuesToReencrypt(),
      )
      result.dropped = await store.deleteUnusedDataKeys(new Date(clock.now() - DELETE_AFTER_MS))
      return result
    },

    /** @throws KeyringError if the key is active, unknown, or wraps a key */
    retire: async (id: string): Promise<void> => {
      if (id === keyring.activeId)
        throw new KeyringError([`key ${id} is active; activate another one and rewrap first`])
      const result = await store.retire(id, new Date(clock.now()))
      if (result === 'unknown') throw new KeyringError([`key ${id} is not in the database`])
      if (result === 'in use') throw new KeyringError([`key ${id} still wraps data keys; rewrap first`])
    },
  }
}

/** Runs batches until no rows are left. Waits for rows that others have locked, because their work may fail. */
async function repeatUntilDone(batch: () => Promise<number>, left: () => Promise<number>): Promise<void> {
  for (;;) {
    if ((await batch()) > 0) continue
    if ((await left()) === 0) return
    await sleep(100)
  }
}
