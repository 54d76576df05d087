// Writes what a browser needs of an entry as one script. A process of its own: rolldown takes no objects of jest's realm.
import { rolldown } from 'rolldown'

const [, , input = ''] = process.argv
const bundle = await rolldown({ input, platform: 'browser', resolve: { conditionNames: ['source', 'import'] } })
const { output } = await bundle.generate({ format: 'iife', name: 'vaultClient' })
process.stdout.write(output[0].code)
