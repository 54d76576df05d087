// Python reads the documents as a second parser.
import { requireProgram } from '../../dev-env/src/processes/programs.mjs'

export default () => requireProgram('python3')
