/** A note about a secret: 1 to 500 characters without control characters. */
export const NOTE = /^[^\p{Cc}\p{Surrogate}]{1,500}$/u

/** The owner of a secret, a person or a team: 1 to 100 characters without control characters. */
export const OWNER = /^[^\p{Cc}\p{Surrogate}]{1,100}$/u

/** What people record about a secret; null if nothing is recorded. None of it is secret, or affects access. */
export type SecretDetails = {
  readonly note: string | null
  readonly owner: string | null
  /** When the value should have been replaced. The vault only warns. */
  readonly expiresAt: Date | null
}

/** Changes to the details; undefined members stay as they are. */
export type DetailChanges = { readonly [name in keyof SecretDetails]?: SecretDetails[name] | undefined }

/** The details that are recorded. */
export type RecordedDetails = { readonly [name in keyof SecretDetails]?: NonNullable<SecretDetails[name]> }

/** Removes the details that are not recorded, so that a plain secret is listed without them. */
export function recorded({ note, owner, expiresAt }: SecretDetails): RecordedDetails {
  return {
    ...(note !== null && { note }),
    ...(owner !== null && { owner }),
    ...(expiresAt !== null && { expiresAt }),
  }
}
