// What the scripts in `infra` hand over to, once dependencies are installed.
export { start } from './start.ts'
export { test } from './test.ts'
