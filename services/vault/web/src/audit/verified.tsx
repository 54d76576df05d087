import { useQuery } from '@tanstack/react-query'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { verification } from './queries.ts'

/** Whether the newest entries are those that were sealed. */
export function Verified() {
  const { data, error, isFetching, refetch } = useQuery(verification)
  return (
    <section className="verified" aria-label="Verification" data-tone={data?.intact === false ? 'bad' : undefined}>
      <p role="status">
        {error !== null && data === undefined ? (
          'The newest entries could not be checked against the chain.'
        ) : data === undefined ? (
          'The newest entries are checked against the chain…'
        ) : data.intact ? (
          <>
            <b className="good">✓ Intact.</b>{' '}
            {data.rows === 0
              ? 'No entry is sealed yet.'
              : `The newest ${formatCount(data.rows)} entries are as they were sealed${
                  data.since === null ? '' : `, since ${formatExactTime(data.since)}`
                }, up to seal ${formatCount(data.sealNo)}.`}{' '}
            <span className="muted">
              The command <code>audit verify</code> checks the whole log.
            </span>
          </>
        ) : (
          <>
            <b className="bad">✗ Broken:</b> {data.problem}. Somebody changed the log behind the vault: run{' '}
            <code>audit verify</code>, and compare with the seals that were logged elsewhere.
          </>
        )}
      </p>
      <Button className="small" isBusy={isFetching} onClick={() => void refetch()}>
        Check again
      </Button>
    </section>
  )
}
