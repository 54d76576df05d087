import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError, forbidden } from '../errors.ts'
import type { Nonces } from '../integrity/nonces.ts'
import { createPending } from '../limits/pending.ts'
import type { CookieSeals } from './cookie-seals.ts'
import { type Person, type Provider, ProviderError, type SignInChecks } from './provider.ts'
import { type RoleMapping, rolesOf } from './role-mapping.ts'
import { actorOf, type Sessions } from './sessions.ts'

/** How long a person has for signing in at the provider. */
export const SIGN_IN_MS = 600_000

/** A page of the console, without the address of the console and without a fragment. */
const PAGE = /^\/(?!\/)[!"$-~]{0,500}$/

/** Browsers resolve `..` in many spellings, also `%2e%2e`, and read a backslash as a slash. */
function isPage(page: string): boolean {
  return PAGE.test(page) && new URL(`http://vault/console${page}`).pathname.startsWith('/console/')
}

/** A sign-in that was started in a browser, whose cookie contains it. */
type Started = { readonly seed: string; readonly startedAt: number; readonly page: string }

/** Sign-ins with OIDC. */
export type SignIns = ReturnType<typeof createSignIns>

/**
 * Creates the use cases of a sign-in. Nothing is stored for one that was started: its cookie contains a seed, from which
 * state, nonce and PKCE verifier are derived, so any replica can finish it.
 *
 * @param deps `provider` throws a ProviderError if the provider cannot be reached; `onFailure` receives why a sign-in failed
 */
export function createSignIns(deps: {
  label: string
  issuer: string
  mapping: RoleMapping
  provider: () => Promise<Provider>
  seals: CookieSeals
  nonces: Pick<Nonces, 'spendToken'>
  sessions: Pick<Sessions, 'begin'>
  clock: Clock
  onFailure: (reason: string) => void
}) {
  const { label, issuer, mapping, provider, seals, nonces, sessions, clock, onFailure } = deps
  const pending = createPending('Too many people are signing in. Try again in a moment.')

  const checksOf = ({ seed }: Started): SignInChecks => ({
    state: seals.derive('state', seed),
    nonce: seals.derive('nonce', seed),
    verifier: seals.derive('verifier', seed),
  })

  function readStarted(cookie: string | undefined): Started | undefined {
    const [seed, time, page] = (cookie === undefined ? undefined : seals.open('sign-in', cookie))?.split(' ') ?? []
    return seed === undefined || page === undefined ? undefined : { seed, startedAt: Number(time), page }
  }

  /** @throws ApiError unauthorized if it was spent before */
  async function spend({ seed, startedAt }: Started): Promise<void> {
    const digest = createHash('sha256').update(`sign-in ${seed}`).digest('hex')
    const token = { digest, issued: Math.floor(startedAt / 1000), by: 'sign-in' }
    if (!(await nonces.spendToken(token, 2 * SIGN_IN_MS))) throw invalid('the response was already used')
  }

  /** @throws ApiError unauthorized, unavailable */
  async function explained<T>(work: Promise<T>, note?: (reason: string) => void): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      note?.(error.message)
      if (error.isRefusal) throw apiError('unauthorized', undefined, { cause: error })
      throw apiError('unavailable', 'The sign-in provider cannot be reached. Try again in a moment.', { cause: error })
    }
  }

  /** @throws ApiError forbidden if no group has a role */
  function rolesOfPerson({ subject, groups }: Person): readonly string[] {
    const roles = Array.isArray(groups) ? rolesOf(mapping, groups) : []
    if (roles.length > 0) return roles
    onFailure(Array.isArray(groups) ? 'no group of the person has a role' : 'the groups claim is not a list')
    throw forbidden(actorOf(subject), '')
  }

  return {
    /** The name of the provider on the button. */
    label,

    /**
     * Starts a sign-in.
     *
     * @param page where the person returns to in the console; ignored if it is not a page
     * @returns the address of the provider, and the cookie that binds the sign-in to the browser
     * @throws ApiError unavailable
     */
    start: async (redirectUri: string, page: string | undefined): Promise<{ url: URL; cookie: string }> => {
      const started = {
        ...{ seed: randomBytes(32).toString('base64url'), startedAt: clock.now() },
        page: page !== undefined && isPage(page) ? page : '/',
      }
      const found = await explained(provider())
      const url = await found.signInUrl(redirectUri, checksOf(started))
      const { seed, startedAt } = started
      return { url, cookie: seals.seal('sign-in', `${seed} ${String(startedAt)} ${started.page}`) }
    },

    /** The page where a sign-in was started. */
    pageOf: (cookie: string | undefined): string => readStarted(cookie)?.page ?? '/',

    /**
     * Returns the sign-in that was started in the browser, to which a response belongs.
     *
     * @param response the address that the provider chose, with its parameters
     * @throws ApiError unauthorized
     */
    requireStarted: (response: URL, cookie: string | undefined): Started => {
      const started = readStarted(cookie)
      if (started === undefined) throw invalid('the browser has not started it')
      if (clock.now() - started.startedAt > SIGN_IN_MS) throw invalid('it took too long')
      if (response.searchParams.get('state') !== checksOf(started).state)
        throw invalid('the state is that of another sign-in')
      return started
    },

    /**
     * Finishes a sign-in.
     *
     * @param response that of {@link requireStarted}
     * @returns the cookie of the new session
     * @throws ApiError unauthorized, forbidden, unavailable
     */
    finish: (
      response: URL,
      { started, address, client }: { started: Started; address: string; client: string },
    ): Promise<string> =>
      pending(client, async () => {
        const found = await explained(provider())
        await spend(started)
        const person = await explained(found.finish(response, checksOf(started)), onFailure)
        const roles = rolesOfPerson(person)
        return sessions.begin({ subject: person.subject, name: person.name, roles, issuer, address })
      }),

    /** Returns the address where a person signs out of the provider; undefined if there is none, or it is unavailable. */
    signOutUrl: async (returnTo: string): Promise<URL | undefined> => {
      try {
        return (await provider()).signOutUrl(returnTo)
      } catch (error) {
        if (error instanceof ProviderError) return undefined
        throw error
      }
    },
  }
}

function invalid(reason: string): Error {
  return apiError('unauthorized', undefined, { cause: new Error(reason) })
}
