import { useQuery } from '@tanstack/react-query'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { verification } from './queries.ts'

/** Whether the newest entries match their seals. */
export function Verified() {
  const { data, error, isFetching, refetch } = useQuery(verification)
  return (
    <section className="verified" aria-label="Verification" data-tone={data?.intact === false ? 'bad' : undefined}>
      <p role="status">
        {error !== null && data === undefined ? (
          'Could not verify the newest entries.'
        ) : data === undefined ? (
          'Verifying the newest entries…'
        ) : data.intact ? (
          <>
            <b className="good">✓ Intact.</b>{' '}
            {data.rows === 0
              ? 'No entries have been sealed yet.'
              : `The newest ${formatCount(data.rows)} entries${
                  data.since === null ? '' : `, since ${formatExactTime(data.since)},`
                } match their seals, up to seal ${formatCount(data.sealNo)}.`}{' '}
            <span className="muted">
              Run <code>audit verify</code> to check the whole log.
            </span>
          </>
        ) : (
          <>
            <b className="bad">✗ Broken:</b> {data.problem}. The log was changed outside the vault. Run{' '}
            <code>audit verify</code> and compare the seals with the copies in your logs.
          </>
        )}
      </p>
      <Button className="small" isBusy={isFetching} onClick={() => void refetch()}>
        Check again
      </Button>
    </section>
  )
}
