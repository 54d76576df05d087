import { spawnSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'

/** Runs Compose, v2 or 1.29, in the repository. */
export type Compose = {
  /** @returns what it printed @throws with what it printed, when it fails */
  run(args: string[], input?: string): string
  /** Runs a program in the container of a service. */
  exec(service: string, command: string[], input?: string): string
}

/** Compose of this machine. */
export function createCompose(root: string): Compose {
  const isPlugin = spawnSync('docker', ['compose', 'version']).status === 0
  const [command, ...first] = isPlugin ? (['docker', 'compose'] as const) : (['docker-compose'] as const)
  const run: Compose['run'] = (args, input = '') => {
    const ended = spawnSync(command, [...first, ...args], { cwd: root, input, encoding: 'utf8' })
    if (ended.status === 0) return ended.stdout
    const why = ended.error?.message ?? `${ended.stderr}${ended.stdout}`.trim()
    throw new Error(`${command} ${args.slice(0, 5).join(' ')} … failed: ${why}`)
  }
  return { run, exec: (service, program, input) => run(['exec', '-T', service, ...program], input) }
}

/**
 * The address of this machine as the tracker's container sees it, which BitTorrent clients have to listen on. Connections
 * from here to a published port come from the container's gateway; elsewhere, as in a virtual machine, from the loopback.
 */
export function addressSeenBy(compose: Compose): string {
  const routes = compose.exec('tracker', ['cat', '/proc/net/route']).split('\n')
  const gateway = routes.map((line) => line.split('\t')).find(([, destination]) => destination === '00000000')?.[2]
  const address = [...Buffer.from(gateway ?? '', 'hex')].reverse().join('.')
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return own.some((each) => each.address === address) ? address : '127.0.0.1'
}
