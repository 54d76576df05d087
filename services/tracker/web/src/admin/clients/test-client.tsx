import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { api, type ClientVerdict } from '../../api/client.ts'
import { versionsText } from './rule-text.ts'

/** Shows whether a peer id can announce. */
export function TestClient() {
  const test = useMutation<ClientVerdict, ApiError, string>({
    mutationFn: (peerId) => read(api.GET('/api/admin/clients/verdict', { params: { query: { peerId } } })),
  })
  return (
    <section className="card narrow block-list" aria-labelledby="test-client">
      <h2 id="test-client">Test a client</h2>
      <Form
        label="Test a client"
        fields={['peerId']}
        error={test.error}
        isBusy={test.isPending}
        onSubmit={({ peerId = '' }) => test.mutate(peerId)}
        submit="Test client"
      >
        <TextField
          label="Peer ID"
          name="peerId"
          required
          maxLength={20}
          spellCheck={false}
          autoCapitalize="off"
          hint="Or its start, such as -qB4250-."
          error={test.error}
        />
      </Form>
      <p role="status">{test.data && verdictText(test.data)}</p>
    </section>
  )
}

function verdictText({ client, isAllowed, rule, reason }: ClientVerdict): string {
  const why = rule === null ? 'no rule matches' : `rule: ${rule.verdict} ${rule.prefix}, ${versionsText(rule)}`
  if (isAllowed) return `${client} is allowed (${why}).`
  return `${client} is denied (${why}). Its user reads: ${reason}.`
}
