// Starts two children under a reaper, prints their identities and waits to be killed. Like src/processes/reaper.ts, but
// it runs without a build.
import { spawn } from 'node:child_process'
import { identityOf } from '../src/processes/identity.mjs'

const reaper = spawn(process.execPath, [new URL('../src/processes/reaper-main.mjs', import.meta.url).pathname], {
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
})
/** @param {object} message */
const order = (message) => reaper.stdin.write(`${JSON.stringify(message)}\n`)
const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"
const pids = ['setInterval(() => {}, 1000)', stubborn].map((code, phase) => {
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' })
  const entry = { pid: child.pid, identity: identityOf(Number(child.pid)), stopSignal: 'SIGTERM', graceMs: 500, phase }
  order({ watch: entry })
  return child.pid
})
order({ remove: process.argv[2] })
console.log(JSON.stringify([...pids, reaper.pid]))
setInterval(() => {}, 1000)
