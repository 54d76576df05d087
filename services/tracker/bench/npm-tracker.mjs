// The npm package bittorrent-tracker. Usage: npm-tracker.mjs <port> http|ws
import Server from 'bittorrent-tracker/server'

const [port, protocol] = process.argv.slice(2)
const server = new Server({ udp: false, ws: protocol === 'ws', http: true, stats: false })
server.on('warning', () => undefined)
server.listen(Number(port), '127.0.0.1')
