import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { type Figure, Numbers } from '@vault-and-tracker/web-kit/layout'
import { useState } from 'react'
import type { ManagedUserDetails, UserStats } from '../../api/client.ts'
import { ownUser } from '../../api/queries.ts'
import { Notes } from '../parts/notes.tsx'
import { ResetPasskey } from '../parts/reset-passkey.tsx'
import { Warnings } from '../parts/warnings.tsx'
import { userStats } from './queries.ts'
import { RemoveFactors } from './remove-factors.tsx'
import { ResetPassword } from './reset-password.tsx'
import { rightsKey } from './rights.ts'
import { RightsForm } from './rights-form.tsx'

export function AccountTab({ user }: { user: ManagedUserDetails }) {
  const { data: stats } = useQuery(userStats(user.id))
  const [isResetting, setResetting] = useState(false)
  return (
    <>
      <Numbers figures={numbersOf(user, stats)} />
      <section aria-labelledby="rights" className="card narrow">
        <h2 id="rights">Access and rates</h2>
        <RightsForm key={rightsKey(user)} user={user} />
      </section>
      <Warnings user={user} />
      <section aria-labelledby="notes" className="card narrow">
        <h2 id="notes">Staff notes</h2>
        <Notes about={{ type: 'user', id: user.id }} />
      </section>
      <section aria-labelledby="passkey" className="card narrow">
        <h2 id="passkey">Passkey</h2>
        <p>If it has leaked, reset it. The account of the user shows the new one.</p>
        <div className="form-actions">
          <Button kind="danger" onClick={() => setResetting(true)}>
            Reset passkey
          </Button>
        </div>
      </section>
      <PasswordSection user={user} />
      {user.secondFactors > 0 && <FactorSection user={user} />}
      {isResetting && (
        <ResetPasskey
          user={user}
          active={stats && (stats.seeding ?? 0) + (stats.leeching ?? 0)}
          onClose={() => setResetting(false)}
        />
      )}
    </>
  )
}

function PasswordSection({ user }: { user: ManagedUserDetails }) {
  const { data: own } = useQuery(ownUser)
  const [isResetting, setResetting] = useState(false)
  return (
    <section aria-labelledby="password" className="card narrow">
      <h2 id="password">Password</h2>
      {own?.id === user.id ? (
        <p>
          This is your account.{' '}
          <Link to="/me" search={{ tab: 'security' }}>
            Change your password
          </Link>{' '}
          with the current one.
        </p>
      ) : (
        <>
          <p>If the user forgot it, set a random one, which is shown to you once.</p>
          <div className="form-actions">
            <Button kind="danger" onClick={() => setResetting(true)}>
              Reset password
            </Button>
          </div>
        </>
      )}
      {isResetting && <ResetPassword user={user} onClose={() => setResetting(false)} />}
    </section>
  )
}

function FactorSection({ user }: { user: ManagedUserDetails }) {
  const { data: own } = useQuery(ownUser)
  const [isRemoving, setRemoving] = useState(false)
  return (
    <section aria-labelledby="second-factor" className="narrow">
      <h2 id="second-factor">Second factor</h2>
      {own?.id === user.id ? (
        <p>
          This is your account.{' '}
          <Link to="/me" search={{ tab: 'security' }}>
            Change your second factor
          </Link>{' '}
          there.
        </p>
      ) : (
        <>
          <p>If the user lost it and the recovery codes, remove it.</p>
          <div className="form-actions">
            <Button kind="danger" onClick={() => setRemoving(true)}>
              Remove second factor
            </Button>
          </div>
        </>
      )}
      {isRemoving && <RemoveFactors user={user} onClose={() => setRemoving(false)} />}
    </section>
  )
}

function numbersOf(user: ManagedUserDetails, stats: UserStats | undefined): readonly Figure[] {
  const { uploaded, downloaded } = user
  const count = (number: number | undefined): string => (number === undefined ? '–' : formatCount(number))
  return [
    { label: 'Ratio', value: formatRatio(downloaded === 0 ? null : uploaded / downloaded) },
    { label: 'Uploaded', value: formatBytes(uploaded) },
    { label: 'Downloaded', value: formatBytes(downloaded) },
    { label: 'Seed time', value: stats?.seedSeconds === undefined ? '–' : formatDuration(stats.seedSeconds) },
    { label: 'Seeding', value: count(stats?.seeding) },
    { label: 'Leeching', value: count(stats?.leeching) },
    { label: 'Snatches', value: count(stats?.completed) },
    { label: 'Uploads', value: count(stats?.torrents) },
  ]
}
