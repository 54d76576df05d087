import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * A process: its pid, and what distinguishes it from a later process with the same pid.
 *
 * @typedef {{ pid: number, identity: string }} SeenProcess
 */

const LINUX = process.platform === 'linux'

/** Runs `ps`, whose exit code 1 only means "no such process". @param {string[]} args */
function ps(args) {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/**
 * The fields of /proc/<pid>/stat after the command name, which may itself hold blanks and brackets.
 *
 * @param {number} pid
 */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function bootId() {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
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
  if (LINUX) {
    const fields = statFields(pid)
    // A zombie has ended; its parent has not read its status yet.
    if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${bootId()}:${fields[19]}`
  }
  const [state, ...started] = ps(['-o', 'stat=,lstart=', '-p', String(pid)])
    .trim()
    .split(/\s+/)
  return state === undefined || state === '' || state.startsWith('Z') ? undefined : started.join(' ')
}

/**
 * Whether the process with this pid is still the same one.
 *
 * @param {{ pid: number, identity?: string | undefined }} seen
 */
export function isSameProcess({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity
}

/**
 * The parent of a process and the parent's command line.
 *
 * @param {number} pid
 * @returns {{ pid: number, command: string } | undefined} undefined when the process is gone
 */
export function parentOf(pid) {
  const parent = LINUX ? statFields(pid)?.[1] : ps(['-o', 'ppid=', '-p', String(pid)]).trim()
  return parent === undefined || parent === '' ? undefined : { pid: Number(parent), command: commandOf(Number(parent)) }
}

/** @param {number} pid */
function commandOf(pid) {
  if (!LINUX) return ps(['-o', 'args=', '-p', String(pid)]).trim()
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/**
 * Every living process below `root`, parents before their children.
 *
 * @param {number} root a pid
 * @returns {number[]} pids
 */
export function descendantsOf(root) {
  /** @type {Map<number, number[]>} */
  const children = new Map()
  for (const { pid, parent } of allProcesses()) children.set(parent, [...(children.get(parent) ?? []), pid])
  /** @type {number[]} */
  const found = []
  const queue = [root]
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const below = children.get(next) ?? []
    found.push(...below)
    queue.push(...below)
  }
  return found
}

function allProcesses() {
  if (LINUX) {
    const pids = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
    return pids.flatMap((pid) => {
      const fields = statFields(pid)
      return fields === undefined ? [] : [{ pid, parent: Number(fields[1]) }]
    })
  }
  const lines = ps(['-A', '-o', 'pid=,ppid=']).trim().split('\n')
  return lines.map((line) => {
    const [pid, parent] = line.trim().split(/\s+/)
    return { pid: Number(pid), parent: Number(parent) }
  })
}
