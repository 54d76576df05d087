// What the scripts in `infra` call once dependencies are installed.
export { build } from '../world/build.ts'
export { start } from './start.ts'
