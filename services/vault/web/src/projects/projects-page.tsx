import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, SearchField } from '@vault-and-tracker/web-kit/form'
import { Ago, formatCount, formatDate } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { allKeys, allProjects } from '../api/queries.ts'
import type { KeyOfProject, Project } from '../api/types.ts'
import { useAdministrator } from '../api/use-administrator.ts'
import { Countdown } from '../keys/countdown.tsx'
import { Fingerprint } from '../keys/fingerprint.tsx'
import { ScopeText } from '../keys/scope.tsx'
import { RegisterProject } from './register-project.tsx'

const route = getRouteApi('/projects')

type Listed = Project & { readonly keys: readonly KeyOfProject[] }

/** All projects with their newest keys. */
export function ProjectsPage() {
  const { search, register } = route.useSearch()
  const navigate = route.useNavigate()
  const { mayWrite } = useAdministrator()
  const { data, error, refetch } = useQuery(allProjects)
  const keys = useQuery(allKeys)
  // Without the keys every project would seem to have none.
  const retry = (): void => void Promise.all([refetch(), keys.refetch()])
  usePageTitle('Projects')
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(search?.toLowerCase() ?? ''))
  const setRegister = (isOpen: boolean): void =>
    void navigate({ search: { search, register: isOpen ? 'yes' : undefined } })
  return (
    <>
      <header className="manage-head">
        <h1>Projects</h1>
        <p className="muted" role="status">
          {shown && `${formatCount(shown.length)} ${shown.length === 1 ? 'project' : 'projects'}`}
        </p>
      </header>
      <div className="manage-filters">
        <SearchField
          label="Part of a name"
          value={search}
          onChange={(text) => void navigate({ search: { search: text, register }, replace: true })}
        />
        {mayWrite && (
          <Button kind="main" onClick={() => setRegister(true)}>
            Register a project
          </Button>
        )}
      </div>
      {shown === undefined || keys.data === undefined ? (
        <Pending error={error ?? keys.error} onRetry={retry} rows={12} label="The projects are loading." />
      ) : shown.length === 0 ? (
        <Empty title={search === undefined ? 'There is no project yet.' : 'No project is called like this.'}>
          {search === undefined ? (
            <p>An application fetches its secrets as a project, with a key of its own.</p>
          ) : (
            <Link to="/projects">All projects</Link>
          )}
        </Empty>
      ) : (
        <Table
          caption="Projects"
          columns={columnsAt(keys.dataUpdatedAt)}
          rows={shown.map((project) => ({ ...project, keys: ofProject(keys.data, project.name) }))}
          rowKey={({ id }) => id}
        />
      )}
      {mayWrite && register === 'yes' && <RegisterProject onClose={() => setRegister(false)} />}
    </>
  )
}

function ofProject(keys: readonly KeyOfProject[], name: string): readonly KeyOfProject[] {
  return keys.filter(({ project }) => project === name)
}

function columnsAt(now: number): readonly Column<Listed>[] {
  return [
    {
      key: 'name',
      head: 'Name',
      isMain: true,
      cell: ({ name, requireContentDigest }) => (
        <>
          <Link to="/projects/$name" params={{ name }} className="row-link">
            {name}
          </Link>{' '}
          {requireContentDigest && <span className="tag">digest required</span>}
        </>
      ),
    },
    {
      key: 'key',
      head: 'Newest key',
      isEvident: true,
      cell: ({ keys: [newest] }) =>
        newest === undefined ? (
          <span className="tag" data-tone="warn">
            no key
          </span>
        ) : (
          <Fingerprint value={newest.fingerprint} />
        ),
    },
    {
      key: 'scope',
      head: 'It may',
      isEvident: true,
      cell: ({ keys: [newest] }) => newest && <ScopeText scope={newest.scope} />,
    },
    {
      key: 'others',
      head: 'Replaced',
      isEvident: true,
      cell: ({ keys }) => {
        const ending = keys.find(({ until }) => until !== null)
        return ending?.until != null && <Countdown until={ending.until} />
      },
    },
    {
      key: 'used',
      head: 'Last used',
      align: 'end',
      cell: ({ keys }) => {
        const last = keys
          .map(({ lastUsedAt }) => lastUsedAt ?? '')
          .toSorted()
          .at(-1)
        return last ? <Ago time={last} now={now} /> : 'never'
      },
    },
    { key: 'created', head: 'Registered', align: 'end', cell: ({ createdAt }) => formatDate(createdAt) },
  ]
}
