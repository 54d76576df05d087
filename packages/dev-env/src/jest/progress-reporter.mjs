import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

/**
 * A reporter of jest that tells another process which files run: one JSON object a line, appended to the file that
 * TEST_PROGRESS names. `total` is the number of files, `began` and `ended` name one.
 */
export default class ProgressReporter {
  /** @param {{ rootDir: string }} config */
  constructor({ rootDir }) {
    this.rootDir = rootDir
    this.file = process.env['TEST_PROGRESS'] ?? ''
  }

  /** @param {{ numTotalTestSuites: number }} results */
  onRunStart({ numTotalTestSuites }) {
    this.#tell({ total: numTotalTestSuites })
  }

  /** @param {{ path: string }} test */
  onTestFileStart({ path }) {
    this.#tell({ began: relative(this.rootDir, path) })
  }

  /** @param {{ path: string }} test */
  onTestFileResult({ path }) {
    this.#tell({ ended: relative(this.rootDir, path) })
  }

  /** @param {object} event */
  #tell(event) {
    if (this.file !== '') appendFileSync(this.file, `${JSON.stringify(event)}\n`)
  }
}
