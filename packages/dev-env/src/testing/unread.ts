import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** Opens a connection and sends bytes, without reading the response. */
export async function askUnread(url: string, request: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(request, 'latin1')
  return socket
}

/** The resident memory of a process in bytes (proc(5)). */
export function memoryOf(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1_024
}
