import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const LINUX = process.platform === 'linux'

/** Runs `ps`, whose exit code 1 only means "no such process". */
function ps(args) {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/** The fields of /proc/<pid>/stat after the command name, which may itself hold blanks and brackets. */
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
 * Says which process a pid stands for, so that a number that was given to somebody else in the meantime is never
 * mistaken for ours: the boot and the moment the process started. Undefined when nothing runs under the pid.
 */
export function identityOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  if (LINUX) {
    const fields = statFields(pid)
    // A zombie has ended; only its parent has not noticed yet.
    if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${bootId()}:${fields[19]}`
  }
  const [state, ...started] = ps(['-o', 'stat=,lstart=', '-p', String(pid)])
    .trim()
    .split(/\s+/)
  return state === undefined || state === '' || state.startsWith('Z') ? undefined : started.join(' ')
}

/** Whether the process that was seen under this pid is still the one that runs under it. */
export function isSameProcess({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity
}

/** Who started a process, and with which command line that one runs; undefined for one that is gone. */
export function parentOf(pid) {
  const parent = LINUX ? statFields(pid)?.[1] : ps(['-o', 'ppid=', '-p', String(pid)]).trim()
  return parent === undefined || parent === '' ? undefined : { pid: Number(parent), command: commandOf(Number(parent)) }
}

function commandOf(pid) {
  if (!LINUX) return ps(['-o', 'args=', '-p', String(pid)]).trim()
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/** Every living process below `root`, parents before their children. */
export function descendantsOf(root) {
  const children = new Map()
  for (const [pid, parent] of allProcesses()) children.set(parent, [...(children.get(parent) ?? []), pid])
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
      return fields === undefined ? [] : [[pid, Number(fields[1])]]
    })
  }
  const lines = ps(['-A', '-o', 'pid=,ppid=']).trim().split('\n')
  return lines.map((line) => line.trim().split(/\s+/).map(Number))
}
