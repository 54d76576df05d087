import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Icon } from '@vault-and-tracker/web-kit/icon'
import { api, type SiteSettings } from '../../api/client.ts'
import { checklist } from '../../api/queries.ts'

const ITEMS = [
  ['look', '/admin/site', 'Name the site', 'A name, an accent colour and a logo.'],
  ['registration', '/admin/site', 'Choose who can register', 'Everyone, only people with an invite, or no one.'],
  ['categories', '/admin/categories', 'Create the categories', 'The standard tree suits most sites and all tools.'],
  ['rules', '/admin/rules', 'Publish the rules', 'Members read and accept them on their first visit.'],
  ['upload', '/upload', 'Upload the first torrent', 'Try what your members will do.'],
] as const

/** What is left to set up on a new site. Each item knows when it is done. */
export function SetupChecklist() {
  const queries = useQueryClient()
  const { data } = useQuery(checklist)
  const dismiss = useMutation<SiteSettings, ApiError>({
    mutationFn: () => read(api.PATCH('/api/admin/site', { body: { checklistDismissed: true } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: checklist.queryKey }),
    onError: toastProblem,
  })
  if (data === undefined || data.dismissed) return null
  const done = ITEMS.filter(([key]) => data[key]).length
  return (
    <section aria-labelledby="checklist" className="card checklist">
      <div className="section-head">
        <h2 id="checklist">
          {done === ITEMS.length ? 'Your site is ready' : 'Set up your site'}{' '}
          <span className="muted">
            {done} of {ITEMS.length} done
          </span>
        </h2>
        <Button className="small" isBusy={dismiss.isPending} onClick={() => dismiss.mutate()}>
          Hide checklist
        </Button>
      </div>
      <ol>
        {ITEMS.map(([key, to, title, hint]) => (
          <li key={key} data-done={data[key]}>
            <span className="checklist-sign">{data[key] && <Icon name="check" />}</span>
            <span>
              <Link to={to}>{title}</Link>
              {data[key] && <span className="visually-hidden"> (done)</span>}
              <span className="field-hint">{hint}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
