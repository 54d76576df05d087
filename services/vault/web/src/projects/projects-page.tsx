import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, SearchField } from '@vault-and-tracker/web-kit/form'
import { Ago, formatDate, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { allKeys, allProjects } from '../api/queries.ts'
import { useAdministrator } from '../api/session.ts'
import type { KeyOfProject, Project } from '../api/types.ts'
import { Countdown } from '../keys/cells.tsx'
import { RegisterProject } from './register-project.tsx'

const route = getRouteApi('/projects')

type Listed = Project & { readonly keys: readonly KeyOfProject[] }

export function ProjectsPage() {
  const { search, register } = route.useSearch()
  const navigate = route.useNavigate()
  const { mayWrite } = useAdministrator()
  const { data, error, refetch } = useQuery(allProjects)
  const keys = useQuery(allKeys)
  // Without the list of keys, every project would seem to lack keys.
  const retry = (): void => void Promise.all([refetch(), keys.refetch()])
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(search?.toLowerCase() ?? ''))
  const setRegister = (isOpen: boolean): void =>
    void navigate({ search: { search, register: isOpen ? 'yes' : undefined } })
  return (
    <>
      <PageHead title="Projects" count={shown ? formatNumberOf(shown.length, 'project') : ''} />
      <div className="manage-filters">
        <SearchField
          label="Search projects"
          value={search}
          onChange={(text) => void navigate({ search: { search: text, register }, replace: true })}
        />
        {mayWrite && (
          <Button kind="main" onClick={() => setRegister(true)}>
            Register project
          </Button>
        )}
      </div>
      {shown === undefined || keys.data === undefined ? (
        <Pending error={error ?? keys.error} onRetry={retry} rows={12} label="Loading projects…" />
      ) : shown.length === 0 ? (
        <Empty title={search === undefined ? 'No projects yet.' : 'No matching projects.'}>
          {search === undefined ? (
            <p>Register a project for each application. It fetches its secrets with its own key.</p>
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
      head: 'Name',
      isMain: true,
      cell: ({ name, requireContentDigest }) => (
        <>
          <Link to="/projects/$name" params={{ name }} className="row-link" preload={false}>
            {name}
          </Link>{' '}
          {requireContentDigest && <span className="tag">digest required</span>}
        </>
      ),
    },
    {
      head: 'Keys',
      isEvident: true,
      cell: ({ keys }) =>
        keys.length === 0 ? (
          <span className="tag" data-tone="warn">
            No active key
          </span>
        ) : (
          formatNumberOf(new Set(keys.map(({ name }) => name)).size, 'key')
        ),
    },
    {
      head: 'Next expiry',
      isEvident: true,
      cell: ({ keys }) => {
        const [next] = keys.flatMap(({ until }) => until ?? []).toSorted()
        return next !== undefined && <Countdown until={next} />
      },
    },
    {
      head: 'Last used',
      align: 'end',
      cell: ({ keys }) => {
        const times = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
        return <Ago time={times.toSorted().at(-1) ?? null} now={now} />
      },
    },
    { head: 'Registered', align: 'end', cell: ({ createdAt }) => formatDate(createdAt) },
  ]
}
