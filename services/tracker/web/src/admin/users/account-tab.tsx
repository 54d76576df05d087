import { useQuery } from '@tanstack/react-query'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import type { ManagedUserDetails, UserStats } from '../../api/client.ts'
import { userStats } from './queries.ts'
import { ResetPasskey } from './reset-passkey.tsx'
import { rightsKey } from './rights.ts'
import { RightsForm } from './rights-form.tsx'

/** What a user has done and may do. */
export function AccountTab({ user }: { user: ManagedUserDetails }) {
  const { data: stats } = useQuery(userStats(user.id))
  const [isResetting, setResetting] = useState(false)
  return (
    <>
      <dl className="numbers">
        {numbersOf(user, stats).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <section aria-labelledby="rights" className="narrow">
        <h2 id="rights">Role, state and rights</h2>
        <RightsForm key={rightsKey(user)} user={user} />
      </section>
      <section aria-labelledby="passkey" className="narrow">
        <h2 id="passkey">Passkey</h2>
        <p>A new one stops whoever has the old one. The user finds it in their own account.</p>
        <div className="form-actions">
          <Button kind="danger" onClick={() => setResetting(true)}>
            Reset passkey
          </Button>
        </div>
      </section>
      {isResetting && <ResetPasskey user={user} stats={stats} onClose={() => setResetting(false)} />}
    </>
  )
}

function numbersOf(user: ManagedUserDetails, stats: UserStats | undefined): readonly (readonly [string, string])[] {
  const { uploaded, downloaded } = user
  const count = (number: number | undefined): string => (number === undefined ? '–' : formatCount(number))
  return [
    ['Ratio', formatRatio(downloaded === 0 ? null : uploaded / downloaded)],
    ['Uploaded', formatBytes(uploaded)],
    ['Downloaded', formatBytes(downloaded)],
    ['Seed time', stats?.seedSeconds === undefined ? '–' : formatDuration(stats.seedSeconds)],
    ['Seeding', count(stats?.seeding)],
    ['Leeching', count(stats?.leeching)],
    ['Snatched', count(stats?.completed)],
    ['Uploads', count(stats?.torrents)],
  ]
}
