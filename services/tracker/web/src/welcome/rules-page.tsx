import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDate } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { api, type Rules } from '../api/client.ts'
import { rules, rulesWaiting } from '../api/queries.ts'
import { Description } from '../release/description.tsx'

/** The rules of the site. */
export function RulesPage() {
  const { data, error, refetch } = useQuery(rules)
  return (
    <div className="stack">
      <PageHead title="Rules" {...(data !== undefined && { count: versionText(data) })} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading the rules…" />
      ) : data.version === 0 ? (
        <Empty title="This site has no rules yet." />
      ) : (
        <>
          <h2 className="visually-hidden">Current version</h2>
          <RulesText rules={data} />
        </>
      )}
    </div>
  )
}

/** The text of the rules, and the button that accepts it. */
export function RulesText({ rules: shown }: { rules: Rules }) {
  const queries = useQueryClient()
  const accept = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.POST('/api/rules/acceptance', { body: { version: shown.version } })),
    onSuccess: () => {
      queries.setQueryData(rulesWaiting.queryKey, false)
      toast('Rules accepted.')
    },
    onError: toastProblem,
    // After a conflict, this shows the version that replaced it.
    onSettled: () => queries.invalidateQueries({ queryKey: rules.queryKey, exact: true }),
  })
  return (
    <div className="card prose-card">
      <Description text={shown.text} />
      <div className="form-actions rules-actions">
        {shown.accepted === null ? (
          <Button kind="main" isBusy={accept.isPending} onClick={() => accept.mutate()}>
            Accept rules
          </Button>
        ) : (
          <p className="muted">You accepted this version on {formatDate(shown.accepted)}.</p>
        )}
      </div>
    </div>
  )
}

function versionText({ version, published }: Rules): string {
  return published === null ? '' : `Version ${version}, ${formatDate(published)}`
}
