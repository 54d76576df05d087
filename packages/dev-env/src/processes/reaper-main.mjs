// Outlives the process that started it, for one purpose: when that process is gone, however it ended, its pipe to this
// one closes, and this one stops the children that were left. It runs in a session of its own, so that a terminal's
// Ctrl-C does not reach it. Plain JavaScript, because the tests run it from a source tree that was never built.
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
 * The processes that noted themselves in `<path>/guests`: workers of a test run, which start after their servers.
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
