import { useNavigate } from '@tanstack/react-router'
import { Button, Field, TextField } from '@vault-and-tracker/web-kit/form'
import { ERROR_CODES, errorText } from './error-names.ts'
import { formText } from './form-text.ts'
import { fromLocalInput, toLocalInput } from './local-time.ts'
import { FUNCTIONS, type RequestSearch } from './search.ts'

/** What the log is narrowed to. Everything is sent at once, since a span of time takes two fields. */
export function RequestFilters({ search }: { search: RequestSearch }) {
  const navigate = useNavigate()
  const go = (data: FormData): void => {
    const text = (name: string): string | undefined => formText(data, name)
    void navigate({
      to: '/admin/torznab',
      search: {
        tab: 'requests',
        user: text('user'),
        function: FUNCTIONS.find((name) => name === text('function')),
        error: text('error'),
        from: fromLocalInput(text('from')),
        to: fromLocalInput(text('to')),
      },
    })
  }
  return (
    <form
      className="request-filters"
      role="search"
      aria-label="Requests"
      onSubmit={(event) => {
        event.preventDefault()
        go(new FormData(event.currentTarget))
      }}
    >
      <TextField label="User" name="user" maxLength={64} autoComplete="off" defaultValue={search.user} />
      <Field label="Function" name="function">
        {(attributes) => (
          <select {...attributes} className="input" defaultValue={search.function ?? ''}>
            <option value="">Any</option>
            {FUNCTIONS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Outcome" name="error">
        {(attributes) => (
          <select {...attributes} className="input" defaultValue={search.error ?? ''}>
            <option value="">Any</option>
            <option value="false">Answered</option>
            <option value="true">Any error</option>
            {ERROR_CODES.map((code) => (
              <option key={code} value={code}>
                {errorText(code)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField label="From" name="from" type="datetime-local" defaultValue={toLocalInput(search.from)} />
      <TextField label="To" name="to" type="datetime-local" defaultValue={toLocalInput(search.to)} />
      <Button type="submit">Show</Button>
    </form>
  )
}
