import { openApiCommand } from '@vault-and-tracker/rest'
import { runIfMain } from '@vault-and-tracker/service-kit/lifecycle/command'
import { describeApi } from '../app.ts'

await runIfMain(import.meta, openApiCommand(describeApi))
