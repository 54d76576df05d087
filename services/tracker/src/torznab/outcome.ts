import type { Caps, Feed, TorznabError } from '@vault-and-tracker/torznab-xml'

/** Why a request is not answered. */
export type Refusal = {
  readonly error: TorznabError
  /** Present where a limit or a block refused the request, whatever it asks for. */
  readonly by?: 'limit' | 'block'
  /** When to try again, in seconds. */
  readonly retryAfterSeconds?: number
}

/** What a request is answered with. */
export type Outcome =
  | { readonly kind: 'caps'; readonly caps: Caps }
  | { readonly kind: 'feed'; readonly feed: Feed }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Buffer }
  | ({ readonly kind: 'refusal' } & Refusal)

export function refusal({ error, by, retryAfterSeconds }: Refusal): Outcome {
  return {
    kind: 'refusal',
    error,
    ...(by !== undefined && { by }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}
