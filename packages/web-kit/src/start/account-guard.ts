import { ApiError } from '../api/error.ts'

const KEY = 'account'

/**
 * Keeps a page from acting as an account that signed in in another tab. The tabs of a browser share the cookie of a session,
 * and this remembers for all of them whose it is.
 */
export function createAccountGuard() {
  /** The account that this page shows. */
  let shown: string | undefined
  const signedInNow = (): string | null => localStorage.getItem(KEY)
  const isSwitched = (): boolean => shown !== undefined && signedInNow() !== null && signedInNow() !== shown

  return {
    /** Whether another account has signed in since the page showed this one. */
    isSwitched,

    /** Calls a function when another tab signs in with another account, or signs out. */
    watch: (onEnd: () => void): void => {
      addEventListener('storage', ({ key }) => {
        if (key === KEY && shown !== undefined && signedInNow() !== shown) onEnd()
      })
    },

    /** Notes who signed in here; undefined after signing out. */
    signedIn: (account: string | undefined): void => {
      if (account !== undefined) localStorage.setItem(KEY, account)
      else if (signedInNow() === shown) localStorage.removeItem(KEY)
      shown = account
    },

    /** Notes whose session the server found, unless someone signed in while it did. */
    shows: async <Account>(reading: Promise<Account>, idOf: (account: Account) => string): Promise<Account> => {
      const before = signedInNow()
      const account = await reading
      shown = idOf(account)
      if (signedInNow() === before) localStorage.setItem(KEY, shown)
      return account
    },

    /** @throws ApiError as if the session had ended, if it is that of another account */
    require: (): void => {
      if (isSwitched())
        throw new ApiError({ status: 401, code: 'OTHER_ACCOUNT', message: 'Another account has signed in.' })
    },
  }
}
