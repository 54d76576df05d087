import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'

const made: string[] = []

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** Makes an empty folder. It is deleted when the tests of the file that asked for it have ended. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vault-client-'))
  made.push(folder)
  return folder
}
