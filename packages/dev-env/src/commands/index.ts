// What the scripts in `infra` call once dependencies are installed.
export { start } from './start.ts'
export { test } from './test.ts'
