import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { BoxError } from './box.ts'
import { chainKeyOwner, type StoredChainKey } from './chain-keys.ts'
import { type DataKeys, dataKeyOwner, type StoredDataKey } from './data-keys.ts'
import { openValue, sealValue, type ValuePlace } from './envelope.ts'
import type { KnownKek } from './key-check.ts'
import { type DataKeyOwner, type Keyring, KeyringError, unwrapKey, type WrappedKey, wrapKey } from './keyring.ts'

/** A data key and the project it belongs to. */
export type OwnedDataKey = StoredDataKey & Readonly<{ projectUid: string; project: string }>

/** A stored value with the data keys it has and shall have, and the name of its project. */
export type ValueToMove = Readonly<{
  place: ValuePlace
  project: string
  blob: Buffer
  from: StoredDataKey
  to: StoredDataKey
}>

/** How many data keys, those of the audit chain included, a key-encryption key wraps. */
export type KekUse = KnownKek & Readonly<{ wraps: number }>

/** What the key commands do to the database. Every method is one transaction; several at once share the work. */
export type VaultKeyStore = {
  keks(): Promise<readonly KekUse[]>
  /** Data keys, how many values wait to be moved to a newer one, and when the oldest of the newest was made. */
  dataKeys(): Promise<{ projects: number; dataKeys: number; valuesBehind: number; oldest: Date | null }>
  /** Re-wraps up to `limit` data keys that are not under this key-encryption key. Returns how many. */
  rewrapDataKeys(
    activeId: string,
    limit: number,
    rewrap: (key: OwnedDataKey) => WrappedKey,
    entryFor: (key: OwnedDataKey) => NewEntry,
  ): Promise<number>
  rewrapChainKeys(activeId: string, rewrap: (key: StoredChainKey) => WrappedKey): Promise<number>
  countNotUnder(activeId: string): Promise<number>
  /** Gives up to `limit` projects whose newest data key is older than `before` or worn out a next one. */
  renewDataKeys(
    limits: { before: Date; encryptions: number },
    limit: number,
    now: Date,
    create: (projectUid: string, dekV: number) => StoredDataKey,
    entryFor: (dekV: number) => NewEntry,
  ): Promise<number>
  /**
   * Encrypts up to `limit` values again that are not under their project's newest data key, in the order of projects
   * from `fromUid` on. `last` is the project it came to.
   */
  moveValues(
    fromUid: string,
    limit: number,
    move: (value: ValueToMove) => Buffer,
  ): Promise<{ moved: number; last: string | undefined }>
  countValuesBehind(): Promise<number>
  /** Deletes data keys that no value needs and whose successor was made before. Returns how many. */
  dropUnusedDataKeys(successorBefore: Date): Promise<number>
  /** Marks a key as retired unless it wraps something. */
  retire(id: string, now: Date): Promise<'retired' | 'in use' | 'unknown'>
}

/** The operator's work on keys. */
export type VaultKeys = ReturnType<typeof createVaultKeys>

const REWRAP_BATCH = 500
const MOVE_BATCH = 200
/** Far below the 2^32 messages that AES-GCM with random nonces allows under one key (NIST SP 800-38D). */
const MAX_ENCRYPTIONS = 2 ** 30
/** A fetch may still hold rows it read before they were moved. */
const DROP_AFTER_MS = 600_000
/** Every entry has an address; a command has that of the machine it runs on. */
const LOCAL = '127.0.0.1'
const DAY_MS = 86_400_000
const FIRST_UID = '00000000-0000-0000-0000-000000000000'

/** Wraps keys anew, makes new data keys and moves values to them, while the service runs. */
export function createVaultKeys(deps: { keyring: Keyring; store: VaultKeyStore; dataKeys: DataKeys; clock: Clock }) {
  const { keyring, store, dataKeys, clock } = deps

  function rewrapped(key: WrappedKey, owner: DataKeyOwner): WrappedKey {
    return wrapKey(keyring, unwrapKey(keyring, key, owner), owner)
  }

  function move({ place, project, blob, from, to }: ValueToMove): Buffer {
    try {
      const value = openValue(dataKeys.unwrap(place.projectUid, from), place, blob)
      return sealValue(dataKeys.unwrap(place.projectUid, to), to.dekV, place, value)
    } catch (error) {
      if (!(error instanceof BoxError)) throw error
      const { env, key, version } = place
      const what = `version ${version} of ${JSON.stringify(key)} in ${env} of project ${project}`
      throw new KeyringError([`${what} does not decrypt; restore it or delete the secret, then run again`], {
        cause: error,
      })
    }
  }

  return {
    status: async () => ({
      activeId: keyring.activeId,
      keks: await store.keks(),
      inKeyring: [...keyring.keys.values()].map(({ id, fingerprint }) => ({ id, fingerprint })),
      ...(await store.dataKeys()),
    }),

    /** Wraps every data key by the active key-encryption key. Can be interrupted and run again at any time. */
    rewrap: async (): Promise<{ rewrapped: number }> => {
      let total = await store.rewrapChainKeys(keyring.activeId, (key) => rewrapped(key, chainKeyOwner(key.keyNo)))
      const rewrapDataKey = (key: OwnedDataKey) => rewrapped(key, dataKeyOwner(key.projectUid, key.dekV))
      const entryFor = (key: OwnedDataKey) =>
        newEntry(clock, {
          action: 'key.rewrap',
          ip: LOCAL,
          detail: { dekV: key.dekV, from: key.kekId, to: keyring.activeId },
        })
      await untilDone(
        async () => {
          const done = await store.rewrapDataKeys(keyring.activeId, REWRAP_BATCH, rewrapDataKey, entryFor)
          total += done
          return done
        },
        () => store.countNotUnder(keyring.activeId),
      )
      return { rewrapped: total }
    },

    /**
     * Gives projects new data keys, encrypts their values again and drops data keys that nothing needs. Can be
     * interrupted and run again at any time: it goes on where values are left behind.
     *
     * @param olderThanDays projects whose newest data key is younger keep it, unless it is worn out
     */
    renew: async (olderThanDays: number): Promise<{ renewed: number; moved: number; dropped: number }> => {
      const now = clock.now()
      const limits = { before: new Date(now - olderThanDays * DAY_MS), encryptions: MAX_ENCRYPTIONS }
      const entryFor = (dekV: number) => newEntry(clock, { action: 'key.rotate', ip: LOCAL, detail: { dekV } })
      const result = { renewed: 0, moved: 0, dropped: 0 }
      const create = (projectUid: string, dekV: number) => dataKeys.create(projectUid, dekV)
      let made: number
      do {
        made = await store.renewDataKeys(limits, REWRAP_BATCH, new Date(now), create, entryFor)
        result.renewed += made
      } while (made > 0)
      // Through the projects in order, so that what is done is not looked at again.
      let from = FIRST_UID
      await untilDone(
        async () => {
          const { moved, last } = await store.moveValues(from, MOVE_BATCH, move)
          result.moved += moved
          from = last ?? FIRST_UID
          return moved
        },
        () => store.countValuesBehind(),
      )
      result.dropped = await store.dropUnusedDataKeys(new Date(clock.now() - DROP_AFTER_MS))
      return result
    },

    /** @throws KeyringError when the key is the active one, unknown, or wraps something */
    retire: async (id: string): Promise<void> => {
      if (id === keyring.activeId)
        throw new KeyringError([`key ${id} is the active one; activate another and rewrap first`])
      const result = await store.retire(id, new Date(clock.now()))
      if (result === 'unknown') throw new KeyringError([`key ${id} is not known to the database`])
      if (result === 'in use') throw new KeyringError([`key ${id} still wraps data keys; rewrap first`])
    },
  }
}

/** Works in batches until nothing is left; what others hold at the moment is waited for, as they may fail. */
async function untilDone(batch: () => Promise<number>, left: () => Promise<number>): Promise<void> {
  for (;;) {
    if ((await batch()) > 0) continue
    if ((await left()) === 0) return
    await sleep(100)
  }
}
