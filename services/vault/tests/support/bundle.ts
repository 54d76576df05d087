// Bundles an entry for a browser. In its own process, because rolldown does not accept objects of jest's realm.
import { rolldown } from 'rolldown'

const [, , input = ''] = process.argv
const bundle = await rolldown({ input, platform: 'browser', resolve: { conditionNames: ['source', 'import'] } })
const { output } = await bundle.generate({ format: 'iife', name: 'vaultClient' })
process.stdout.write(output[0].code)
