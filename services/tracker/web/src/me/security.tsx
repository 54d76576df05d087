import type { OwnUser } from '../api/client.ts'
import { Password } from './password.tsx'
import { SecondFactors } from './second-factors.tsx'

/** The password and the second factors of a member. */
export function Security({ user }: { user: OwnUser }) {
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
    </>
  )
}
