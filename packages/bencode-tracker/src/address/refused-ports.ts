/** Ports below this one belong to system services; handing them out would direct peers at those. */
const LOWEST_ALLOWED_PORT = 1024

/** Ports of other services and of older file sharing programs, which providers throttle (decided in the ADRs). */
const REFUSED_PORTS: ReadonlySet<number> = new Set([1214, 3389, 4662, 6346, 6347, 6699, 8080, 8081])

/** True for a listening port that this tracker neither accepts nor hands out: below 1024, or of the known bad ones. */
export function isRefusedPort(port: number): boolean {
  return port < LOWEST_ALLOWED_PORT || REFUSED_PORTS.has(port)
}
