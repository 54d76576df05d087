import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * A process: its pid, and what distinguishes it from a later process with the same pid.
 *
 * @typedef {{ pid: number, identity: string }} SeenProcess
 */

/** Linux has all of it in /proc, and a small image may lack `ps`. */
const LINUX = process.platform === 'linux'

/** A file below /proc; empty when the process is gone. @param {string} file */
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

/** State, parent and start of a process; the start is the time since the boot, elsewhere a date. @param {number} pid */
function look(pid) {
  if (!LINUX) {
    const [state, parent, ...started] = ps('-o', 'stat=,ppid=,lstart=', '-p', String(pid)).trim().split(/\s+/)
    return { state, parent: Number(parent), started: started.join(' ') }
  }
  const stat = proc(`${pid}/stat`)
  // The command comes before these fields, and may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0], parent: Number(fields[1]), started: fields[19] }
}

/**
 * Identifies the process with a pid by the boot and the time at which it started, so that a later process with the same
 * pid is not mistaken for it.
 *
 * @param {number} pid
 * @returns {string | undefined} undefined when nothing runs under the pid
 */
export function identityOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  const { state, started } = look(pid)
  // A zombie (Z) or dead (X) process has ended; its parent has not read its status yet.
  if (!state || /^[ZX]/.test(state)) return undefined
  return `${proc('sys/kernel/random/boot_id').trim()}:${started}`
}

/**
 * Whether the process with this pid is still the same one.
 *
 * @param {{ pid: number, identity?: string | undefined }} seen
 */
export function isSameProcess({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity
}

/** The pid of the parent of a process; NaN when the process is gone. @param {number} pid */
export function parentOf(pid) {
  return look(pid).parent
}

/** The command line of a process; empty when it is gone. @param {number} pid */
export function commandOf(pid) {
  return LINUX ? proc(`${pid}/cmdline`).replaceAll('\0', ' ') : ps('-o', 'args=', '-p', String(pid))
}

/**
 * Every living process below `root`, parents before their children.
 *
 * @param {number} root a pid
 * @returns {number[]} pids
 */
export function descendantsOf(root) {
  const all = LINUX
    ? readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [[Number(name), parentOf(Number(name))]] : []))
    : ps('-A', '-o', 'pid=,ppid=')
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
  /** @param {number} pid @returns {number[]} */
  const below = (pid) => all.flatMap(([child = 0, parent]) => (parent === pid ? [child, ...below(child)] : []))
  return below(root)
}
