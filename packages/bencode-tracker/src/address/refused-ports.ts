/** Lower ports belong to system services, and peers must not be directed to those. */
const LOWEST_ALLOWED_PORT = 1024

/** Ports of other services, and of older file sharing programs, which providers throttle. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([1214, 3389, 4662, 6346, 6347, 6699, 8080, 8081])

/** Whether this tracker refuses a listening port: below 1024, or on the list. */
export function isRefusedPort(port: number): boolean {
  return port < LOWEST_ALLOWED_PORT || REFUSED_PORTS.has(port)
}
