// Entry points for the scripts in `infra`, once dependencies are installed.
export { launchChromium } from '../testing/visit.ts'
export { build } from '../world/build.ts'
export { start } from './start.ts'
