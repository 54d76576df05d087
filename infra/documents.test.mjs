// What the documents say about names in the code. Run with `node --test infra/documents.test.mjs`.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
/** Every file of the repository, as a path from there, without what is installed, built or hidden. */
const files = filesBelow('')
const documents = files.filter((file) => file.endsWith('.md'))
const sources = files.filter((file) => /^(services|packages)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file))
const decisions = documents.filter((file) => file.startsWith('docs/adr/'))

test('every link of a document leads to a file', () => {
  for (const document of documents)
    for (const [, target = ''] of read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      assert.ok(existsSync(join(root, dirname(document), target)), `${document}: ${target}`)
})

test('every link to a section of a document leads to its heading', () => {
  let links = 0
  for (const document of documents)
    for (const [, path = '', section = ''] of read(document).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)) {
      const target = path === '' ? document : join(dirname(document), path)
      assert.ok(anchorsOf(target).includes(section), `${document}: ${path}#${section}`)
      links += 1
    }
  assert.ok(links > 20)
})

test('the proxy that operations shows is the one that the tests run', () => {
  const example = read('infra/nginx.conf.example')
  assert.ok(read('docs/operations.md').includes(`\`\`\`nginx\n${example}\`\`\`\n`))
})

test('every decision has a number of its own, a date and a status, and names tests that exist', () => {
  const names = new Set(files.map((file) => basename(file)))
  const numbers = decisions.map((file) => basename(file).slice(0, 4))
  assert.equal(new Set(numbers).size, numbers.length)
  for (const file of decisions) {
    const text = read(file)
    const number = String(Number(basename(file).slice(0, 4)))
    const heading = `^# ${number}\\. .+\n\nDate: \\d{4}-\\d\\d-\\d\\d · Status: (accepted|superseded)`
    assert.match(text, new RegExp(heading), file)
    const [, pinned = ''] = /\nPinned by ([^]*)$/.exec(text) ?? []
    for (const [name] of pinned.matchAll(/[\w-]+\.test\.m?[jt]s/g)) assert.ok(names.has(name), `${file}: ${name}`)
  }
})

/** The attacks of a part of the threat model, one line each. @param {string} text */
const attacksIn = (text) => text.split('\n').filter((line) => /^\|(?!---| Attack \|)/.test(line))

test('every attack of the threat model names tests that exist, or is possible', () => {
  const tests = files.filter((file) => /\.test\.m?[jt]s$/.test(file))
  const rows = attacksIn(read('docs/threat-model.md'))
  assert.ok(rows.length > 50)
  for (const row of rows) {
    const [, outcome = '', held = ''] = row.split(' |')
    if (held.trim() === '') assert.match(outcome, /^ Possible/, row)
    for (const item of held.split(' · ').filter((each) => each.trim() !== '')) {
      const [, file = '', title = ''] = /^`([\w-]+\.test\.ts)` ?(.*)$/.exec(item.trim()) ?? []
      const named = tests.filter((path) => basename(path) === file)
      assert.ok(named.length > 0, item)
      assert.ok(title === '' || named.some((path) => read(path).includes(`'${title}'`)), item)
    }
  }
})

test('every attack with the database role of the service is tried with its rights, and every trial is in the threat model', () => {
  const [, section = ''] = read('docs/threat-model.md').split('\n## The database role of the service\n')
  const held = attacksIn(section.split('\n## ')[0] ?? '').map((row) => row.split(' |')[2] ?? '')
  assert.ok(held.length > 15)
  const file = 'services/vault/tests/database-role.test.ts'
  for (const item of held.flatMap((each) => each.split(' · ')).filter((each) => each.trim() !== ''))
    assert.ok(item.trim().startsWith(`\`${basename(file)}\` `), item)
  const titles = [...matches(file, /^test\('([^']+)'/gm), ...matches(file, /^\]\)\('([^']+)'/gm)]
  assert.ok(titles.length > 15)
  for (const title of titles)
    assert.ok(
      held.some((each) => each.includes(title)),
      title,
    )
  assert.doesNotMatch(read(file), /ownerUrl|adminUrl|vault\.sql/)
})

test('the documents for operators name every metric, and no other', () => {
  const inCode = new Set(sources.flatMap((file) => matches(file, /name: '((?:http|vault|tracker)_[a-z_]+)'/g)))
  const operators = [
    'docs/operations.md',
    'docs/tracker-announce.md',
    'services/vault/README.md',
    'services/tracker/README.md',
  ]
  const inText = new Set(
    operators.flatMap((file) =>
      matches(file, /\b((?:http_request|vault|tracker)_[a-z_]+_(?:total|seconds|waiting))\b/g),
    ),
  )
  assert.ok(inCode.size > 15)
  for (const name of inText) assert.ok(inCode.has(name), `there is no metric ${name}`)
  const all = operators.map(read).join('\n')
  for (const name of inCode) assert.ok(all.includes(`\`${name}`), `${name} is not described`)
})

test('every log message that operations names is in the code', () => {
  const code = sources.map(read).join('\n')
  const [, table = ''] = read('docs/operations.md').split('\n| level | message | meaning |\n')
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? []
  assert.ok(rows.length > 15)
  for (const row of rows)
    for (const [, message = ''] of (row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g))
      assert.ok(code.includes(`'${message}'`), message)
})

test('every variable of a service is in its .env.example, and no other', () => {
  const common = matches('packages/service-kit/src/env.ts', /^ {2}([A-Z][A-Z_]+):/gm)
  for (const service of ['vault', 'tracker']) {
    const read = new Set([...common, ...matches(`services/${service}/src/config.ts`, /^ {2}([A-Z][A-Z_]+):/gm)])
    const described = new Set(matches(`services/${service}/.env.example`, /^([A-Z_]+)=/gm))
    assert.deepEqual([...described].sort(), [...read].sort(), service)
  }
})

test('the README of service-kit lists every module, and no other', () => {
  const rows = matches('packages/service-kit/README.md', /^\| (`[^|]+`) +\|/gm)
  const listed = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  const modules = files
    .map((file) => /^packages\/service-kit\/src\/([^/]+?)(?<!\.test)\.ts$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
  assert.deepEqual(listed.sort(), modules.sort())
})

test('ARCHITECTURE names every package and every folder of a service, and only files that exist', () => {
  const text = read('ARCHITECTURE.md')
  const folder = /^(?:packages\/[^/]+|services\/[^/]+\/(?:tests|bench|src\/[^/]+(?=\/)|web\/src\/[^/]+(?=\/)))/
  for (const path of new Set(files.flatMap((file) => file.match(folder) ?? [])))
    assert.match(text, new RegExp(`(^|\`)${basename(path)}[/\`\\s]`, 'm'), path)
  const [, packages = ''] = text.split('\n| package | what is in it |\n')
  for (const name of readdirSync(join(root, 'packages'))) assert.ok(packages.includes(`\n| \`${name}\` |`), name)
  // `x.store.ts` stands for every file with that suffix.
  for (const [, path = ''] of text.matchAll(/`((?!x\.|commands\/x\.)[\w./-]+\.(?:ts|lua))`/g))
    assert.ok(
      files.some((file) => `/${file}`.endsWith(`/${path}`)),
      `there is no ${path}`,
    )
})

test('ARCHITECTURE names no file of a feature without its ending that does not exist', () => {
  for (const service of ['vault', 'tracker']) {
    const [, section = ''] = read('ARCHITECTURE.md').split(`## The ${service}, feature by feature\n`)
    const own = files.filter((file) => file.startsWith(`services/${service}/`))
    // Folders too, and `request-log*` stands for all files that begin so.
    const known = own.flatMap((file) => file.split('/')).map((name) => name.replace(/\.(?:ts|lua)$/, ''))
    const stems = [...(section.split('\n## ')[0] ?? '').matchAll(/`([a-z][a-z.-]*?)(?:\.ts)?(\*?)`/g)]
    assert.ok(stems.length > 10)
    for (const [, stem = '', star] of stems)
      assert.ok(known.includes(stem) || (star && known.some((name) => name.startsWith(stem))), `${service}: ${stem}`)
  }
})

/** The names of a document's headings in links, as GitHub makes them. @param {string} file from the repository */
function anchorsOf(file) {
  const headings = read(file)
    .replaceAll(/^```[^]*?^```$/gm, '')
    .matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** @param {string} folder from the repository @returns {string[]} */
function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return /^(node_modules|dist|coverage|\..+)$/.test(entry.name) ? [] : filesBelow(path)
  })
}

/** What a pattern captures in a file. @param {string} file @param {RegExp} pattern */
function matches(file, pattern) {
  return [...read(file).matchAll(pattern)].map(([, name = '']) => name)
}

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(root, file), 'utf8')
}
