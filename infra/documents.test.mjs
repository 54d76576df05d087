// Links and metric names in the documents. Run with `node --test infra/documents.test.mjs`.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
/** Every file of the repository, as a relative path, except installed, built and hidden ones. */
const files = filesBelow('')
const documents = files.filter((file) => file.endsWith('.md'))
const sources = files.filter((file) => /^(services|packages)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file))

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
  assert.ok(links > 0)
})

test('the documents name every metric, and no other', () => {
  const inCode = new Set(
    sources.flatMap((file) => matches(file, /(?:name: |\(|registry,\s+)'((?:http|vault|tracker)_[a-z_]+)'/g)),
  )
  const current = documents.filter((file) => file !== 'CHANGELOG.md')
  const inText = new Set(
    current.flatMap((file) => matches(file, /\b((?:http_request|vault|tracker)_[a-z_]+_(?:total|seconds|waiting))\b/g)),
  )
  assert.ok(inCode.size > 15)
  for (const name of inText) assert.ok(inCode.has(name), `there is no metric ${name}`)
  const all = current.map(read).join('\n')
  for (const name of inCode) assert.ok(all.includes(`\`${name}`), `${name} is not described`)
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

/** The captures of a pattern in a file. @param {string} file @param {RegExp} pattern */
function matches(file, pattern) {
  return [...read(file).matchAll(pattern)].map(([, name = '']) => name)
}

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(root, file), 'utf8')
}
