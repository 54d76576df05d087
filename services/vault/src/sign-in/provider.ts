import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** How the vault is registered at an OIDC provider. */
export type ProviderSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  /** The name of the claim with the groups, or a JSON Pointer to it. */
  readonly groupsClaim: string
}

/** What binds a sign-in to its response. */
export type SignInChecks = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** A person, as the provider describes them. */
export type Person = {
  readonly subject: string
  /** A name for people, which the person may have chosen. */
  readonly name: string
  /** The claim with the groups; undefined if it is missing. */
  readonly groups: unknown
}

/** An OIDC provider that was discovered. */
export type Provider = {
  /** Returns the address where the person signs in. */
  signInUrl(redirectUri: string, checks: SignInChecks): Promise<URL>
  /**
   * Redeems the code of a response, and verifies the ID token.
   *
   * @param response the address of the vault that the provider chose, with its parameters
   * @throws ProviderError
   */
  finish(response: URL, checks: SignInChecks): Promise<Person>
  /** Returns the address where the person signs out, if there is one. */
  signOutUrl(returnTo: string): URL | undefined
}

/** A failed sign-in. `isRefusal` is false if the provider cannot be reached or does not know the vault. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly isRefusal: boolean

  /** @param reason for the log, without anything that is secret */
  constructor(reason: string, isRefusal: boolean) {
    super(reason)
    this.isRefusal = isRefusal
  }
}

/** How long discovered endpoints are cached. */
const FRESH_MS = 600_000
/** How long after a failure no discovery is attempted. */
const FAILED_MS = 10_000

/**
 * Discovers a provider when it is needed. Requests of the same moment share one discovery.
 *
 * @returns a function that throws a ProviderError if the provider cannot be reached
 */
export function createDiscovery(deps: {
  discover: () => Promise<Provider>
  clock: Clock
  onError: (error: unknown) => void
}): () => Promise<Provider> {
  const { discover, clock, onError } = deps
  let found: { readonly provider: Provider; readonly until: number } | undefined
  let failed: { readonly error: unknown; readonly until: number } | undefined
  let running: Promise<Provider> | undefined

  async function discoverNow(): Promise<Provider> {
    try {
      const provider = await discover()
      found = { provider, until: clock.now() + FRESH_MS }
      return provider
    } catch (error) {
      failed = { error, until: clock.now() + FAILED_MS }
      onError(error)
      throw error
    }
  }

  return async () => {
    if (found !== undefined && found.until > clock.now()) return found.provider
    if (running === undefined && failed !== undefined && failed.until > clock.now()) throw failed.error
    running ??= discoverNow().finally(() => {
      running = undefined
    })
    return running
  }
}
