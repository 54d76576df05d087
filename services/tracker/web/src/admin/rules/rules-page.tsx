import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Dialog, Empty, Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextArea } from '@vault-and-tracker/web-kit/form'
import { Ago, formatCount } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type Rules, type RulesVersion } from '../../api/client.ts'
import { rules } from '../../api/queries.ts'
import { Description } from '../../release/description.tsx'
import { rulesText, rulesVersions } from './queries.ts'
import './rules.css'

const SUGGESTION = `# Sharing

- Seed what you download. The welcome page shows for how long.
- Do not share your .torrent files or your passkey.

# Uploading

- Search before you upload. Do not upload what is already here.
- Keep the name of the release.

# People

- One account per person. Invite only people you trust.
- Be kind. Staff have the last word.
`

/** The rules of the site and their versions. */
export function RulesPage() {
  const { data, error, refetch } = useQuery(rules)
  return (
    <>
      <PageHead title="Rules" />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={8} label="Loading the rules…" />
      ) : (
        <RulesForm key={data.version} current={data} />
      )}
      <Versions />
    </>
  )
}

function RulesForm({ current }: { current: Rules }) {
  const { version } = current
  const queries = useQueryClient()
  const [text, setText] = useState(version === 0 ? SUGGESTION : current.text)
  const publish = useMutation<unknown, ApiError, string>({
    mutationFn: (body) => read(api.POST('/api/admin/rules', { body: { text: body, replaces: version } })),
    onSuccess: () => {
      for (const queryKey of [['rules'], ['admin', 'rules'], ['admin', 'log'], ['admin', 'checklist']])
        void queries.invalidateQueries({ queryKey })
      toast('Rules published.')
    },
  })
  return (
    <div className="card">
      <Form
        label="Rules"
        fields={['text']}
        error={publish.error}
        isBusy={publish.isPending}
        submit={version === 0 ? 'Publish rules' : `Publish version ${version + 1}`}
        onSubmit={(values) => publish.mutate(values['text'] ?? '')}
      >
        <div className="rules-editor">
          <TextArea
            label="Text in Markdown"
            name="text"
            required
            maxLength={20_000}
            rows={18}
            value={text}
            onChange={({ target }) => setText(target.value)}
            hint="Members have to accept each new version. They see who published it."
            error={publish.error}
          />
          <section className="rules-preview" aria-labelledby="preview">
            <h2 id="preview">Preview</h2>
            <Description text={text} />
          </section>
        </div>
      </Form>
    </div>
  )
}

function Versions() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(rulesVersions)
  const [shown, setShown] = useState<number>()
  return (
    <section aria-labelledby="versions" className="stack">
      <h2 id="versions">Versions</h2>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading versions…" />
      ) : data.items.length === 0 ? (
        <Empty title="No rules published yet." />
      ) : (
        <Table
          caption="Versions"
          columns={columnsAt(dataUpdatedAt, setShown)}
          rows={data.items}
          rowKey={({ version }) => String(version)}
        />
      )}
      {shown !== undefined && <VersionDialog version={shown} onClose={() => setShown(undefined)} />}
    </section>
  )
}

function columnsAt(now: number, onShow: (version: number) => void): readonly Column<RulesVersion>[] {
  return [
    { head: 'Version', isMain: true, cell: ({ version }) => `Version ${version}` },
    { head: 'Published', isEvident: true, cell: ({ published }) => <Ago time={published} now={now} /> },
    { head: 'By', cell: ({ by }) => by.username },
    { head: 'Accepted by', align: 'end', cell: ({ acceptances }) => formatCount(acceptances) },
    {
      head: 'Actions',
      align: 'end',
      isEvident: true,
      cell: ({ version }) => (
        <Button className="small" aria-label={`Show version ${version}`} onClick={() => onShow(version)}>
          Show
        </Button>
      ),
    },
  ]
}

function VersionDialog({ version, onClose }: { version: number; onClose: () => void }) {
  const { data, error, refetch } = useQuery(rulesText(version))
  return (
    <Dialog title={`Version ${version}`} onClose={onClose}>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading the version…" />
      ) : (
        <div className="rules-version">
          <Description text={data.text} />
        </div>
      )}
      <div className="form-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
