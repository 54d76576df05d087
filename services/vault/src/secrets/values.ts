import { KeyObject } from 'node:crypto'
import type { Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { ProjectCaller } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import type { StoredEnvironment } from '../integrity/rows.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import {
  DecryptionError,
  dataKeyVersionOf,
  decryptValue,
  encryptValue,
  formatOf,
  type ValueFormat,
  type ValuePlace,
} from '../keyring/envelope.ts'
import { KeyringError } from '../keyring/keyring.ts'

/** The place of a value, with the name of the project for the log. */
export type NamedPlace = ValuePlace & { readonly project: string }

/** A stored value. */
export type StoredValue = { readonly key: string; readonly version: number; readonly blob: Buffer }

/** Does not decrypt, so that a fetch fails instead of returning the other values. */
const MISSING = Buffer.alloc(0)

/** Returns a stored value. The blob is null if its row is missing. */
export function storedValue(key: string, version: number, blob: Buffer | null): StoredValue {
  return { key, version, blob: blob ?? MISSING }
}

/** All values of an environment and of its ancestors, the nearest first. */
export type StoredValues = {
  readonly levels: readonly (Omit<StoredEnvironment, 'current'> & { readonly current: readonly StoredValue[] })[]
}

/** The longest value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 65_536

/** Encrypts and decrypts values. */
export type Values = ReturnType<typeof createValues>

/**
 * Encrypts and decrypts values with the data keys of their projects. A value or key that does not decrypt is reported, and
 * answered as `decryption_failed`.
 *
 * @param deps `onDecryptionError` receives the reason and the place, never a value
 */
export function createValues(deps: {
  dataKeys: DataKeys
  store: { hasProject(projectUid: string): Promise<boolean> }
  onDecryptionError: (error: unknown, place: NamedPlace) => void
}) {
  const { dataKeys, store, onDecryptionError } = deps

  function toApiError(error: unknown, place: NamedPlace): unknown {
    if (!(error instanceof DecryptionError || error instanceof KeyringError)) return error
    onDecryptionError(error, place)
    return apiError('decryption_failed', undefined, { cause: error })
  }

  function reporting<T>(place: NamedPlace, step: () => T): T {
    try {
      return step()
    } catch (error) {
      throw toApiError(error, place)
    }
  }

  async function reportingAsync<T>(place: NamedPlace, step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      throw toApiError(error, place)
    }
  }

  async function decryptLater(
    found: Exclude<Lookup<KeyObject>, KeyObject>,
    dekV: number,
    place: NamedPlace,
    blob: Buffer,
  ): Promise<string | undefined> {
    return reportingAsync(place, async () => {
      const key = await found
      if (key !== undefined) return decryptValue(key, place, blob)
      if (await store.hasProject(place.projectUid)) throw new DecryptionError(`data key ${dekV} is not stored`)
      return undefined
    })
  }

  return {
    /**
     * Decrypts a value of the caller's or another project, synchronously if the data key is cached. Undefined if the project was
     * deleted meanwhile.
     *
     * @throws ApiError decryption_failed
     */
    decrypt: (
      caller: Pick<ProjectCaller, 'projectUid' | 'project'>,
      env: string,
      stored: StoredValue,
    ): string | Promise<string | undefined> => {
      const { key, version, blob } = stored
      const place = { projectUid: caller.projectUid, project: caller.project, env, key, version }
      const dekV = reporting(place, () => dataKeyVersionOf(blob))
      const found = dataKeys.find(caller.projectUid, dekV)
      return found instanceof KeyObject
        ? reporting(place, () => decryptValue(found, place, blob))
        : decryptLater(found, dekV, place, blob)
    },

    /** Fetches and checks the data key for the next write, so that no transaction waits for a key service. */
    prepare: (place: NamedPlace): Promise<void> => reportingAsync(place, () => dataKeys.prepare(place.projectUid)),

    /** Encrypts a value for its place. */
    encrypt: (place: NamedPlace, dataKey: StoredDataKey, value: string, format: ValueFormat): Promise<Buffer> =>
      reportingAsync(place, async () =>
        encryptValue(await dataKeys.unwrap(place.projectUid, dataKey), dataKey.dekV, place, value, format),
      ),

    /** Encrypts a stored value for another place in the same project. It keeps its format. */
    reencrypt: (
      old: { place: NamedPlace; dataKey: StoredDataKey; blob: Buffer },
      place: Pick<ValuePlace, 'env' | 'version'>,
      dataKey: StoredDataKey,
    ): Promise<Buffer> =>
      reportingAsync(old.place, async () => {
        const { projectUid } = old.place
        const [from, to] = await Promise.all([
          dataKeys.unwrap(projectUid, old.dataKey),
          dataKeys.unwrap(projectUid, dataKey),
        ])
        const { env, version } = place
        const value = decryptValue(from, old.place, old.blob)
        return encryptValue(to, dataKey.dekV, { ...old.place, env, version }, value, formatOf(old.blob))
      }),
  }
}
