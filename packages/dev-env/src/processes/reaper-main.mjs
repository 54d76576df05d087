// Stops the children of the process that started it when that process has ended, however it ended: its pipe to this one
// is closed then. It runs in its own session, so that Ctrl-C in a terminal does not reach it. Plain JavaScript, because
// the tests run it from sources that were not built.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stopInPhases } from './stop.mjs'

/**
 * @typedef {import('./stop.mjs').Stoppable} Stoppable
 * @typedef {{ op: 'watch', entry: Stoppable } | { op: 'forget', pid: number } | { op: 'remove' | 'keep', path: string }} Order
 */

/** @type {Map<number, Stoppable>} */
const watched = new Map()
/** @type {Set<string>} */
const paths = new Set()

/** @param {Order} order */
function obey(order) {
  if (order.op === 'watch') watched.set(order.entry.pid, order.entry)
  else if (order.op === 'forget') watched.delete(order.pid)
  else if (order.op === 'remove') paths.add(order.path)
  else paths.delete(order.path)
}

/**
 * The processes with a note in `<path>/guests`: workers of a test run, which start after the servers.
 *
 * @param {string} path
 * @returns {Stoppable[]}
 */
function guestsOf(path) {
  try {
    const guests = join(path, 'guests')
    return readdirSync(guests).map((name) => JSON.parse(readFileSync(join(guests, name), 'utf8')))
  } catch {
    return []
  }
}

async function reap() {
  await stopInPhases([...watched.values(), ...[...paths].flatMap(guestsOf)])
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  process.exit(0)
}

for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => undefined)

const orders = createInterface({ input: process.stdin })
process.on('SIGTERM', () => orders.close())
orders.on('line', (line) => obey(JSON.parse(line)))
orders.on('close', () => void reap())
