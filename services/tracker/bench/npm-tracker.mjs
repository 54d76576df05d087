// The npm package bittorrent-tracker, HTTP only.
import Server from 'bittorrent-tracker/server'

const server = new Server({ udp: false, ws: false, http: true, stats: false })
server.on('warning', () => undefined)
server.listen(Number(process.argv[2]), '127.0.0.1')
