import type { Wanted } from '../limits/wanted.ts'

/** Who exchanges an ID token for a key. Nothing is proven before the token is verified. */
export type Exchanger = {
  readonly kind: 'exchanger'
  readonly address: string
  /** The address that requests of one subscriber are counted under. */
  readonly client: string
  readonly wanted: Wanted | undefined
}
