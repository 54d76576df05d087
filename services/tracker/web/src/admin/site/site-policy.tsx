import { Form, SelectField, TextField } from '@vault-and-tracker/web-kit/form'
import type { ReactNode } from 'react'
import type { SiteSettings } from '../../api/client.ts'
import { type SiteChanges, saveSite, useSiteChange } from './queries.ts'

const REGISTRATION = [
  ['open', 'Open to everyone'],
  ['invite', 'By invite only'],
  ['closed', 'Closed'],
] as const
const APPROVAL = [
  ['automatic', 'Published at once'],
  ['manual', 'Wait for a moderator'],
] as const
const EDIT_APPROVAL = [
  ['automatic', 'Published at once'],
  ['manual', 'Hide the torrent until a moderator approves'],
] as const
const SECOND_FACTOR = [
  ['true', 'Required'],
  ['false', 'Optional'],
] as const
const FIELDS = ['registration', 'uploadApproval', 'editApproval', 'staffSecondFactor', 'seedHours'] as const

/** Who may register, what moderators approve, whether staff need a second factor, and how long members should seed. */
export function SitePolicy({ settings }: { settings: SiteSettings }) {
  const { defaults } = settings
  const save = useSiteChange(saveSite)
  const { error } = save
  const choice = (
    name: 'registration' | 'uploadApproval' | 'editApproval' | 'staffSecondFactor',
    variable: string,
  ) => ({
    ...{ name, error, defaultValue: String(settings[name] ?? '') },
    hint: <Source variable={variable} value={String(defaults[name])} isSet={settings[name] !== null} />,
  })
  return (
    <section aria-labelledby="policy" className="card">
      <h2 id="policy">Members and uploads</h2>
      <Form
        label="Members and uploads"
        fields={FIELDS}
        error={error}
        isBusy={save.isPending}
        submit="Save settings"
        onSubmit={({ registration, uploadApproval, editApproval, staffSecondFactor = '', seedHours = '' }) =>
          save.mutate({
            registration: chosen(REGISTRATION, registration),
            uploadApproval: chosen(APPROVAL, uploadApproval),
            editApproval: chosen(APPROVAL, editApproval),
            staffSecondFactor: staffSecondFactor === '' ? null : staffSecondFactor === 'true',
            seedHours: seedHours === '' ? null : Number(seedHours),
          } satisfies SiteChanges)
        }
      >
        <SelectField
          {...choice('registration', 'REGISTRATION')}
          label="Registration"
          choices={withDefault(REGISTRATION, defaults.registration)}
        />
        <SelectField
          {...choice('uploadApproval', 'UPLOAD_APPROVAL')}
          label="Member uploads"
          choices={withDefault(APPROVAL, defaults.uploadApproval)}
        />
        <SelectField
          {...choice('editApproval', 'EDIT_APPROVAL')}
          label="Edits of approved torrents"
          choices={withDefault(EDIT_APPROVAL, defaults.editApproval)}
        />
        <SelectField
          {...choice('staffSecondFactor', 'STAFF_SECOND_FACTOR')}
          label="Second factor for staff"
          choices={withDefault(SECOND_FACTOR, String(defaults.staffSecondFactor))}
        />
        <TextField
          label="Minimum seed time, hours"
          name="seedHours"
          type="number"
          min={0}
          max={10_000}
          defaultValue={settings.seedHours ?? ''}
          placeholder={String(defaults.seedHours)}
          error={error}
          hint={
            <>
              Members see how long they still have to seed each completed torrent, unless they uploaded as much of it as
              they downloaded. 0 for no rule.{' '}
              <Source variable="SEED_HOURS" value={String(defaults.seedHours)} isSet={settings.seedHours !== null} />
            </>
          }
        />
      </Form>
    </section>
  )
}

/** Where the value that applies comes from. */
function Source({ variable, value, isSet }: { variable: string; value: string; isSet: boolean }): ReactNode {
  const code = (
    <code>
      {variable}={value}
    </code>
  )
  return isSet ? (
    <>Set here. This overrides {code} of the server configuration.</>
  ) : (
    <>From the server configuration: {code}.</>
  )
}

type Choices<Value extends string> = readonly (readonly [Value, string])[]

/** The first choice is the configuration of the server. */
function withDefault<Value extends string>(choices: Choices<Value>, value: Value): Choices<string> {
  const text = choices.find(([each]) => each === value)?.[1] ?? value
  return [['', `Default (${text.toLowerCase()})`], ...choices]
}

function chosen<Value extends string>(choices: Choices<Value>, text: string | undefined): Value | null {
  return choices.find(([value]) => value === text)?.[0] ?? null
}
