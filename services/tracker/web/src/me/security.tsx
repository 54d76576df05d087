import { useQuery } from '@tanstack/react-query'
import type { OwnUser } from '../api/client.ts'
import { site } from '../api/queries.ts'
import { EmailAddress } from './email-address.tsx'
import { Password } from './password.tsx'
import { SecondFactors } from './second-factors.tsx'

/** How a member signs in: second factors, password, and the address for a new one. */
export function Security({ user }: { user: OwnUser }) {
  const { data } = useQuery(site)
  return (
    <>
      <section aria-labelledby="second-factor" className="stack">
        <h2 id="second-factor">Second factor</h2>
        <SecondFactors />
      </section>
      <section aria-labelledby="password" className="stack">
        <h2 id="password">Password</h2>
        <Password username={user.username} />
      </section>
      {data?.sendsEmail === true && (
        <section aria-labelledby="email-address" className="stack">
          <h2 id="email-address">Email address</h2>
          <EmailAddress user={user} />
        </section>
      )}
    </>
  )
}
