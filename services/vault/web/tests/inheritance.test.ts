import { beforeAll, expect, test } from '@jest/globals'
import { admin, createProject } from '../../tests/support/client.ts'
import { ADMIN_TOKEN, DESKTOP, NARROW, useConsole } from './support/console.ts'

const site = useConsole()

beforeAll(async () => {
  await createProject(site.vault.url, 'shop')
  await createProject(site.vault.url, 'database')
  for (const [env, key] of [
    ['common', 'HOST'],
    ['common', 'PORT'],
    ['production', 'PORT'],
    ['production', 'TOKEN'],
  ])
    await admin(site.vault.url, 'PUT', '/projects/shop/secrets', { env, key, value: 'v' })
})

test('a parent is set, and inherited secrets are marked and not missing', async () => {
  const { page, problems } = await site.open('/projects/shop?tab=environments', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Set parent of production' }).click()
  await page.getByLabel('Inherits from').selectOption('common')
  expect(await problems('set-parent')).toEqual([])
  await page.getByRole('button', { name: 'Set parent', exact: true }).click()
  await page.getByRole('row', { name: /production.*common/ }).waitFor()
  expect(await problems('environments')).toEqual([])
  await page.getByRole('button', { name: 'Set parent of common' }).click()
  await page.getByLabel('Inherits from').selectOption('production')
  await page.getByRole('button', { name: 'Set parent', exact: true }).click()
  await page.getByText('inherit from itself').waitFor()

  const secrets = await site.open('/projects/shop?tab=secrets&env=production', DESKTOP, ADMIN_TOKEN)
  await secrets.page.getByRole('row', { name: /HOST.*inherited/ }).waitFor()
  expect(await secrets.page.getByText('inherited').count()).toBe(1)
  expect(await secrets.problems('inherited-secrets')).toEqual([])
  const compared = await site.open('/projects/shop?tab=compare&left=common&right=production', DESKTOP, ADMIN_TOKEN)
  await compared.page.getByText('1 difference, 2 keys in both').waitFor()
})

test('a value with references is stored and marked', async () => {
  const { page, problems } = await site.open('/projects/shop?tab=secrets', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Add secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('URL')
  await dialog.getByLabel('Environment').fill('common')
  await dialog.getByLabel('New value').fill('https://${NONE}')
  await dialog.getByLabel(/Resolve references/).check()
  await dialog.getByRole('button', { name: 'Add secret' }).click()
  await page.getByText(/\$\{NONE\}, which does not exist/).waitFor()
  await dialog.getByLabel('New value').fill('https://${HOST}')
  expect(await problems('store-references')).toEqual([])
  await dialog.getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('row', { name: /URL references/ }).waitFor()
  await page.getByRole('button', { name: 'Add secret' }).click()
  await dialog.getByLabel('Name').fill('URL')
  await dialog.getByLabel('Environment').fill('common')
  expect(await dialog.getByLabel(/Resolve references/).isChecked()).toBe(true)
})

test('a reference rule is added and removed, and an auditor sees it on a phone', async () => {
  const { page, problems } = await site.open('/projects/database?tab=references', DESKTOP, ADMIN_TOKEN)
  await page.getByText('No reference rules.').waitFor()
  await page.getByRole('button', { name: 'Add reference rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Project').fill('shop')
  await dialog.getByLabel('Secrets').fill('URL, HOST')
  expect(await problems('add-reference-rule')).toEqual([])
  await dialog.getByRole('button', { name: 'Add reference rule' }).click()
  await page.getByRole('row', { name: /shop.*all.*URL, HOST/ }).waitFor()
  expect(await problems('reference-rules')).toEqual([])
  const auditor = await site.tokenOf({ name: 'Audrey', role: 'auditor' })
  const phone = await site.open('/projects/database?tab=references', NARROW, auditor)
  await phone.page.getByText('URL, HOST').waitFor()
  expect(await phone.page.getByRole('button', { name: /^(Add|Remove)/ }).count()).toBe(0)
  expect(await phone.problems('reference-rules-auditor')).toEqual([])
  await page.getByRole('button', { name: 'Remove the rule for shop' }).click()
  await page.getByRole('button', { name: 'Remove reference rule' }).click()
  await page.getByText('No reference rules.').waitFor()
})
