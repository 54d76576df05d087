import { describeApi } from '../app.ts'

// Writes the OpenAPI document of the tracker to standard output.
process.stdout.write(`${JSON.stringify(describeApi(), undefined, 2)}\n`)
