import { useMutation, useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton, Secret } from '@vault-and-tracker/web-kit/form'
import { ownUser, site } from '../../api/queries.ts'
import { CheckResult } from './check-result.tsx'
import { type Checked, replay } from './tools/replay.ts'
import { TOOLS, type Tool } from './tools/tools.ts'

/** What to enter in each tool, and what its Test would say. */
export function Check() {
  const user = useQuery(ownUser)
  const about = useQuery(site)
  const error = user.error ?? about.error
  if (user.data === undefined || about.data === undefined)
    return (
      <Pending
        error={error}
        onRetry={() => void Promise.all([user.refetch(), about.refetch()])}
        rows={12}
        label="The address of the API is loading."
      />
    )
  const { passkey } = user.data
  const { torznabUrl } = about.data
  return (
    <>
      <p className="prose">
        The key is yours; members find theirs in their account. A check asks what the button Test of the tool asks, from
        this browser, and counts as one search of yours.
      </p>
      {new URL(torznabUrl).origin !== location.origin && (
        <p className="notice">
          Tools are given {new URL(torznabUrl).origin}. This page is at {location.origin} and checks the API there.
        </p>
      )}
      <div className="tool-list">
        {TOOLS.map((tool) => (
          <ToolCard key={tool.name} tool={tool} url={torznabUrl} passkey={passkey} />
        ))}
      </div>
    </>
  )
}

function ToolCard({ tool, url, passkey }: { tool: Tool; url: string; passkey: string }) {
  const check = useMutation<Checked>({ mutationFn: () => replay(tool, passkey) })
  const id = `tool-${tool.name}`
  return (
    <section className="tool" aria-labelledby={id}>
      <h2 id={id}>{tool.name}</h2>
      <p className="muted">In {tool.place}:</p>
      <dl className="tool-fields">
        {tool.fields.map(([label, pattern]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <FieldValue what={`${label} for ${tool.name}`} pattern={pattern} url={url} passkey={passkey} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="form-actions">
        <Button isBusy={check.isPending} onClick={() => check.mutate()}>
          Test as {tool.name}
        </Button>
      </div>
      <div role="status">
        {check.isPending ? (
          <p className="muted">Asking…</p>
        ) : check.error ? (
          <p className="field-problem">The check itself failed: {check.error.message}</p>
        ) : (
          check.data && <CheckResult tool={tool} checked={check.data} />
        )}
      </div>
    </section>
  )
}

function FieldValue(props: { what: string; pattern: string; url: string; passkey: string }) {
  const { what, pattern, url, passkey } = props
  const text = pattern.replace('{url}', url).replace('{key}', passkey)
  if (pattern.includes('{key}')) return <Secret text={text} what={what} />
  return (
    <span className="secret">
      <code>{text}</code> <CopyButton text={text} what={what} />
    </span>
  )
}
