import { ApiError } from '../api/error.ts'

const KEY = 'account'

/**
 * Keeps a page from acting as an account that signed in in another tab. The tabs of a browser share the cookie of a session,
 * and this remembers for all of them whose it is.
 */
export function createAccountGuard() {
  /** The account that this page shows. */
  let shown: string | undefined
  const isSwitched = (): boolean => shown !== undefined && localStorage.getItem(KEY) !== shown

  return {
    /** Whether another account has signed in since the page showed this one. */
    isSwitched,

    /** Calls a function when another account signs in in another tab. */
    watch: (onSwitched: () => void): void => {
      addEventListener('storage', ({ key }) => {
        if (key === KEY && isSwitched()) onSwitched()
      })
    },

    /** Notes who signed in here; undefined after signing out. */
    signedIn: (account: string | undefined): void => {
      shown = account
      if (account !== undefined) localStorage.setItem(KEY, account)
    },

    /** Notes whose session the server found, unless someone signed in while it did. */
    shows: async <Account extends { readonly id: string }>(reading: Promise<Account>): Promise<Account> => {
      const before = localStorage.getItem(KEY)
      const account = await reading
      shown = account.id
      if (localStorage.getItem(KEY) === before) localStorage.setItem(KEY, shown)
      return account
    },

    /** @throws ApiError as if the session had ended, if it is that of another account */
    require: (): void => {
      if (isSwitched())
        throw new ApiError({ status: 401, code: 'OTHER_ACCOUNT', message: 'Another account has signed in.' })
    },
  }
}
