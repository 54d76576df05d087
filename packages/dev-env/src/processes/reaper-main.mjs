// Stops the children of the process that started it when that process has ended, however it ended: its pipe to this one
// is closed then. It runs in its own session, so that Ctrl-C in a terminal does not reach it. Plain JavaScript, because
// the tests run it from sources that were not built.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readNote, stopInPhases, stopProcess } from './stop.mjs'

/** @type {import('./stop.mjs').Stoppable[]} */
const watched = []
/** @type {string[]} */
const folders = []

/**
 * The processes with a note in `<folder>/guests`: workers of a test run, which start after the servers.
 *
 * @param {string} folder
 */
function guestsOf(folder) {
  try {
    const guests = join(folder, 'guests')
    return readdirSync(guests).flatMap((name) => readNote(join(guests, name))?.process ?? [])
  } catch {
    return []
  }
}

async function reap() {
  await stopInPhases([...watched, ...folders.flatMap(guestsOf)], stopProcess)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  process.exit(0)
}

for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => undefined)

const orders = createInterface({ input: process.stdin })
process.on('SIGTERM', () => orders.close())
orders.on('line', (line) => {
  const { watch, remove } = JSON.parse(line)
  if (watch !== undefined) watched.push(watch)
  if (remove !== undefined) folders.push(remove)
})
orders.on('close', () => void reap())
