import { expect, test } from '@jest/globals'
import { parseTemplate, type SourceValue } from '../references/references.ts'
import { createResolution } from './resolution.ts'

const NO_CODE = Buffer.alloc(0)

/** Resolves a value of `shop`. Every project is deleted and registered again whenever it has been found. */
function resolved(texts: readonly string[], values: Readonly<Record<string, string>>) {
  let registered = 0
  const resolve = createResolution({
    store: {
      findProjects: (names) => {
        registered += 1
        const project = { requireContentDigest: false, createdAt: new Date(0), generation: 1, keys: [], code: NO_CODE }
        return Promise.resolve(names.map((name) => ({ ...project, name, uid: `${name}-${String(registered)}` })))
      },
      rulesBetween: (projectUids) => {
        const all = { readerEnvs: null, envs: null, keys: null, createdAt: new Date(0), code: NO_CODE }
        const ids = { id: '', readerUid: 'shop', project: '', reader: '' }
        return Promise.resolve(projectUids.map((projectUid) => ({ ...ids, ...all, projectUid })))
      },
      readWanted: (wanted) =>
        Promise.resolve(
          wanted.map(({ projectUid, env, keys }) => {
            const current = (keys === 'all' ? [] : keys).map((key) => ({ key, version: 1, blob: Buffer.from([2]) }))
            return { levels: [{ projectUid, env, stored: undefined, current }] }
          }),
        ),
    },
    values: { decrypt: (_project, _env, { key }) => values[key] ?? '' },
    rows: {
      assertInheritance: () => undefined,
      acceptProject: () => true,
      referenceRules: {
        isAuthentic: () => true,
        accept: () => true,
        seal: (row) => ({ ...row, code: NO_CODE }),
      },
    },
    threadTurn: () => undefined,
    maxBytes: 1_000,
  })
  const root = { project: { uid: 'shop', name: 'shop' }, env: 'production' }
  return resolve(root, { values: new Map(texts.map((text, i) => [String(i), templateOf(text)])), areAll: true })
}

function templateOf(text: string): SourceValue {
  const parsed = parseTemplate(text)
  return 'problem' in parsed ? text : parsed
}

test('a value of a deleted project refers to nothing of a new project with the same name', async () => {
  const values = { URL: '${db.other.HOST}', HOST: 'new' }
  expect((await resolved(['${db.main.HOST}'], values)).values.get('0')).toBe('new')
  await expect(resolved(['${db.main.URL}'], values)).rejects.toMatchObject({ code: 'unresolved_reference' })
})
