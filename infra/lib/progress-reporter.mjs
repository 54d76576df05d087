import { relative } from 'node:path'

/**
 * A reporter of Node's own test runner that tells which files run, in the lines in which
 * `packages/dev-env/src/jest/progress-reporter.mjs` does so for jest. To the runner a file is a test of its name.
 *
 * @param {AsyncIterable<{ type: string, data: { name?: string, file?: string } }>} source
 */
export default async function* progress(source) {
  for await (const { type, data } of source) {
    if (data.name === undefined || data.name !== data.file) continue
    const file = relative(process.cwd(), data.name)
    if (type === 'test:enqueue') yield lineOf({ total: 1 })
    if (type === 'test:dequeue') yield lineOf({ began: file })
    if (type === 'test:complete') yield lineOf({ ended: file })
  }
}

/** @param {object} event */
function lineOf(event) {
  return `${JSON.stringify(event)}\n`
}
