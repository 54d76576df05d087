import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * A process: its pid, and what distinguishes it from a later process with the same pid.
 *
 * @typedef {{ pid: number, identity: string }} SeenProcess
 */

/** Linux has everything in /proc, and a small image may lack `ps`. */
const LINUX = process.platform === 'linux'

/** A file below /proc; empty if the process has ended. @param {string} file */
function proc(file) {
  try {
    return readFileSync(`/proc/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Runs `ps`, whose exit code 1 only means "no such process". @param {string[]} args */
function ps(...args) {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/** State, parent and start time of a process. @param {number} pid */
function look(pid) {
  if (!LINUX) {
    const [state, parent, ...started] = ps('-o', 'stat=,ppid=,lstart=', '-p', String(pid)).trim().split(/\s+/)
    return { state, parent: Number(parent), started: started.join(' ') }
  }
  const stat = proc(`${pid}/stat`)
  // The command comes before these fields, and may contain blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0], parent: Number(fields[1]), started: fields[19] }
}

/**
 * Identifies the process with a pid by the boot and its start time.
 *
 * @param {number} pid
 * @returns {string | undefined} undefined if no process has the pid
 */
export function identityOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  const { state, started } = look(pid)
  // A zombie (Z) or dead (X) process has ended, but its parent has not read its status yet.
  if (!state || /^[ZX]/.test(state)) return undefined
  return `${proc('sys/kernel/random/boot_id').trim()}:${started}`
}

/** Whether the process with this pid is still the same one. @param {{ pid: number, identity?: string | undefined }} seen */
export function isSameProcess({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity
}

/**
 * The pids of all processes below a process, parents before their children.
 *
 * @param {number} root a pid
 * @returns {number[]}
 */
export function descendantsOf(root) {
  const all = LINUX
    ? readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [[Number(name), look(Number(name)).parent]] : []))
    : Array.from(ps('-A', '-o', 'pid=,ppid=').matchAll(/(\d+) +(\d+)/g), ([, pid, parent]) => [+`${pid}`, +`${parent}`])
  /** @param {number} pid @returns {number[]} */
  const below = (pid) => all.flatMap(([child = 0, parent]) => (parent === pid ? [child, ...below(child)] : []))
  return below(root)
}
