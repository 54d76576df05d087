// Stops the children of the process that started it once that process has ended in any way, which closes the pipe between
// them. It runs in its own session, so that Ctrl-C in a terminal does not reach it.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { stopInPhases, stopProcess } from './stop.mjs'

/** @type {import('./stop.mjs').Stoppable[]} */
const watched = []
/** @type {string[]} */
const folders = []

for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => undefined)

const orders = createInterface({ input: process.stdin })
process.on('SIGTERM', () => orders.close())
orders.on('line', (line) => {
  const { watch, remove } = JSON.parse(line)
  if (watch !== undefined) watched.push(watch)
  if (remove !== undefined) folders.push(remove)
})
orders.on('close', () => {
  void stopInPhases(watched, stopProcess).then(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    process.exit(0)
  })
})
