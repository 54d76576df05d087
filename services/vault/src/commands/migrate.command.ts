import { runIfMain } from '@vault-and-tracker/service-kit/lifecycle/command'
import { migrateCommand } from '@vault-and-tracker/service-kit/postgres/migrate'
import { migrate } from '../db/migrations.ts'

await runIfMain(import.meta, migrateCommand({ migrate, runtimeRole: 'vault_app' }))
