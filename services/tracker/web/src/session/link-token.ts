import { useEffect, useState } from 'react'

/** The token of a link from an email. It is in the fragment, which browsers do not send, and leaves the address at once. */
export function useLinkToken(): string | undefined {
  const [token] = useState(() => /^#([\w-]{43})$/.exec(location.hash)?.[1])
  useEffect(() => {
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname)
  }, [])
  return token
}
