import { apiError } from '../errors.ts'
import { DecryptionError, type ValuePlace } from '../keyring/envelope.ts'
import { KeyringError } from '../keyring/keyring.ts'

/** The place of a value, with the name of the project for log lines. */
export type NamedPlace = ValuePlace & { readonly project: string }

/**
 * Runs work with stored values and data keys. What does not decrypt is reported, and answered as `decryption_failed`;
 * every other error is passed on.
 *
 * @param onError gets why it does not decrypt, and the names of its place; never a value
 */
export function createDecryptionReports(onError: (error: unknown, place: NamedPlace) => void) {
  function toApiError(error: unknown, place: NamedPlace): unknown {
    if (!(error instanceof DecryptionError || error instanceof KeyringError)) return error
    onError(error, place)
    return apiError('decryption_failed', undefined, { cause: error })
  }

  return {
    /** @throws ApiError decryption_failed */
    reportingErrors: <T>(place: NamedPlace, step: () => T): T => {
      try {
        return step()
      } catch (error) {
        throw toApiError(error, place)
      }
    },

    /** @throws ApiError decryption_failed */
    reportingLaterErrors: async <T>(place: NamedPlace, step: () => Promise<T>): Promise<T> => {
      try {
        return await step()
      } catch (error) {
        throw toApiError(error, place)
      }
    },
  }
}
