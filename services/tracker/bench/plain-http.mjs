// The least that node:http can do: the same few bytes for every request.
import { createServer } from 'node:http'

const body = Buffer.alloc(350, 0x64)
const headers = ['Content-Type', 'text/plain', 'Content-Length', String(body.length)]
createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
}).listen(Number(process.argv[2]), '127.0.0.1')
