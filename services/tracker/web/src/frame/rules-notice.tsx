import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { rulesWaiting } from '../api/queries.ts'

/** Asks a member to accept the current rules, until they do. */
export function RulesNotice() {
  const { data: isWaiting = false } = useQuery(rulesWaiting)
  if (!isWaiting) return null
  return (
    <p className="notice rules-notice">
      <span>
        Please read and accept the <Link to="/rules">rules of this site</Link>.
      </span>
    </p>
  )
}
