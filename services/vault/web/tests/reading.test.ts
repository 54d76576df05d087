import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, newKey } from '../../tests/support/client.ts'
import {
  ADMIN_TOKEN,
  type Console,
  DESKTOP,
  fillVault,
  signIn,
  startConsole,
  stored,
  useVault,
  VALUE,
  VIEWS,
} from './support/console.ts'

let site: Console

beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.stop())

test('without a project the overview says what to do first', async () => {
  const { page, problems, context } = await site.open('', DESKTOP, ADMIN_TOKEN)
  await page.getByText('There is no project yet.').waitFor()
  expect(await problems('overview-empty')).toEqual([])
  await context.close()
  await fillVault(site.vault)
  await useVault(site.vault)
  await site.vault.seal()
})

test.each(VIEWS)(
  'an administrator signs in with a token and is asked again after a reload ($width px)',
  async (view) => {
    const visit = await site.open('/projects/shop?tab=secrets', view)
    const { page, problems, sent } = visit
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(sent.filter(({ url }) => url.includes('/v1/'))).toEqual([])
    expect(await problems('sign-in')).toEqual([])
    for (const wrong of ['a-wrong-token', 'no token ✗']) {
      await page.getByLabel("Administrator's token").fill(wrong)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('This is not a token of an administrator').waitFor()
    }
    expect(await problems('sign-in-refused')).toEqual([])
    await signIn(visit, ADMIN_TOKEN)
    await page.getByRole('cell', { name: 'staging' }).first().waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/projects/shop?tab=secrets')
    expect(await stored(visit)).toBe('[{},{}][]')
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(visit, ADMIN_TOKEN)
    await page.getByRole('button', { name: 'Admin token' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(sent.filter(({ url }) => url.includes(ADMIN_TOKEN))).toEqual([])
    await page.context().close()
  },
)

test('while the keys cannot be read, no project is said to have none', async () => {
  const visit = await site.open('/projects', DESKTOP)
  let isAway = true
  await visit.page.route('**/v1/admin/keys', (route) =>
    isAway ? route.fulfill({ status: 503, json: { error: 'unavailable', message: 'Postgres.' } }) : route.continue(),
  )
  await signIn(visit, ADMIN_TOKEN)
  await visit.page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await visit.page.getByText('no key').count()).toBe(0)
  expect(await visit.problems('projects-unavailable')).toEqual([])
  isAway = false
  await visit.page.getByRole('button', { name: 'Try again' }).click()
  await visit.page.getByRole('link', { name: 'billing-service' }).waitFor()
  await visit.context.close()
})

test('a theme that is chosen is remembered, and nothing else', async () => {
  const visit = await site.open('', DESKTOP, ADMIN_TOKEN)
  await visit.page.getByRole('button', { name: 'Admin token' }).click()
  await visit.page.getByRole('button', { name: 'Theme: system' }).click()
  expect(await visit.problems('account-menu')).toEqual([])
  expect(await stored(visit)).toBe('[{"theme":"light"},{}][]')
  await visit.context.close()
})

test('where the token ends, the page asks for another one and goes on', async () => {
  const token = await site.tokenOf({ name: 'Grace', role: 'administrator' })
  const visit = await site.open('/projects', DESKTOP, token)
  const { page, problems, context } = visit
  await page.getByRole('link', { name: 'newsletter' }).waitFor()
  const [grace] = (await admin(site.vault.url, 'GET', '/administrators')).body as { id: string }[]
  await admin(site.vault.url, 'DELETE', `/administrators/${grace?.id ?? ''}`)
  await page.getByRole('link', { name: 'newsletter' }).click()
  await page.getByText('Your token is no longer valid').waitFor()
  expect(await problems('token-ended')).toEqual([])
  await signIn(visit, ADMIN_TOKEN)
  await page.getByRole('heading', { name: 'newsletter' }).waitFor()
  await context.close()
})

test.each(VIEWS)('the overview shows numbers, keys that end, and requests over time ($width px)', async (view) => {
  await site.vault.seal()
  const { page, problems } = await site.open('', view, ADMIN_TOKEN)
  await page.getByText('1 without a key').waitFor()
  await page.getByText(/^Sealed/).waitFor()
  await page.getByText(/^ends in \d:\d\d$/).waitFor()
  await page.locator('canvas').waitFor()
  expect(await problems('overview')).toEqual([])
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL(/range=7d$/)
  await page.getByText('Values').click()
  const values = page.getByRole('region', { name: 'Values of Requests' })
  await values.getByRole('row').nth(168).waitFor()
  expect(await problems('overview-week')).toEqual([])
  await page.getByRole('link', { name: 'Refused requests' }).click()
  await page.waitForURL(/audit\?action=refused$/)
  await page.context().close()
})

test.each(VIEWS)('projects are listed with their keys, and found by a part of their name ($width px)', async (view) => {
  const { page, problems } = await site.open('/projects', view, ADMIN_TOKEN)
  await page.getByText('5 projects').waitFor()
  await page.getByText('no key').waitFor()
  await page.getByText(/^ends in \d:\d\d$/).waitFor()
  expect(await problems('projects')).toEqual([])
  await page.getByRole('searchbox').fill('BILL')
  await page.getByText('1 project', { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('nothing')
  await page.getByText('No project is called like this.').waitFor()
  await page.getByRole('link', { name: 'All projects' }).click()
  await page.getByRole('link', { name: 'warehouse.api' }).click()
  await page.getByText('newest', { exact: true }).waitFor()
  await page.getByText(/^ends in \d:\d\d$/).waitFor()
  expect(await problems('project-keys')).toEqual([])
  await page.context().close()
})

test.each(VIEWS)(
  'secrets are listed by environment with their versions, never with a value ($width px)',
  async (view) => {
    const { page, problems } = await site.open('/projects/shop?tab=secrets', view, ADMIN_TOKEN)
    const answers: Promise<string>[] = []
    page.on('response', (response) => {
      if (response.url().includes('/v1/')) answers.push(response.text())
    })
    await page.getByText('5 secrets').waitFor()
    expect(await problems('secrets')).toEqual([])
    await page.getByLabel('Environment').selectOption('production')
    await page.getByText('3 secrets').waitFor()
    await page.getByRole('button', { name: 'Versions of DATABASE_URL in production' }).click()
    await page.getByText('Version 2').waitFor()
    expect(await problems('versions')).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.locator('canvas').waitFor()
    expect(await problems('project-requests')).toEqual([])
    expect((await Promise.all(answers)).join()).not.toContain(VALUE)
    expect(await page.content()).not.toContain(VALUE)
    await page.context().close()
  },
)

test.each(VIEWS)('the audit log is verified, filtered, and paged ($width px)', async (view) => {
  const { page, problems } = await site.open('/audit', view, ADMIN_TOKEN)
  await page.getByText('✓ Intact.').waitFor()
  await page.getByRole('rowheader', { name: 'fetched secrets' }).first().waitFor()
  expect(await problems('audit')).toEqual([])
  await page.getByRole('link', { name: 'Older' }).click()
  await page.waitForURL('**/audit?before=*')
  await page.getByRole('link', { name: 'Newest' }).click()
  await page.getByLabel('Action').selectOption('registered a project')
  await page.getByText('publicKey').first().waitFor()
  expect(await problems('audit-action')).toEqual([])
  await page.getByLabel('Project').selectOption('newsletter')
  await page.waitForURL('**project=newsletter*')
  await page.getByText('admin token').first().waitFor()
  await page.getByLabel('Action').selectOption('renewed a data key')
  await page.getByText('No entry is like this.').waitFor()
  await page.context().close()
})

test.each(VIEWS)('a project with the longest name fits where it is chosen and listed ($width px)', async (view) => {
  const name = `p${String(view.width)}`.padEnd(63, 'm')
  await createProject(site.vault.url, name)
  const { page, problems, context } = await site.open(`/audit?project=${name}&action=project.create`, view, ADMIN_TOKEN)
  await page.getByText('publicKey').waitFor()
  expect(await problems('audit-long-name')).toEqual([])
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('link', { name }).waitFor()
  expect(await problems('projects-long-name')).toEqual([])
  await page.getByRole('link', { name }).click()
  await page.getByText('until replaced').waitFor()
  expect(await problems('project-long-name')).toEqual([])
  await page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  expect(await problems('rotate-long-name')).toEqual([])
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByRole('button', { name: /^Save / }).waitFor()
  expect(await problems('private-key-long-name')).toEqual([])
  await context.close()
  await admin(site.vault.url, 'DELETE', `/projects/${name}`)
})

test.each(VIEWS)('fetches and rotations say who did them ($width px)', async (view) => {
  const name = `Rosa ${String(view.width)}`
  const token = await site.tokenOf({ name, role: 'administrator' })
  const auditor = await site.tokenOf({ name: `${name}, auditor`, role: 'auditor', projects: ['ended'] })
  const { publicKeyHex } = newKey()
  await fetch(`${site.vault.url}/v1/admin/projects/ended/rotate`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ publicKey: publicKeyHex }),
  })
  const { page, problems, context } = await site.open('/audit', view, ADMIN_TOKEN)
  await page
    .getByText(/^key [0-9a-f]{12}…$/)
    .first()
    .waitFor()
  await page.getByText(name, { exact: true }).waitFor()
  expect(await problems('audit-by')).toEqual([])
  await context.close()
  const unnamed = await site.open('/audit?project=ended', view, auditor)
  await unnamed.page.getByText('an administrator', { exact: true }).first().waitFor()
  expect(await unnamed.page.getByText('a removed administrator').count()).toBe(0)
  await unnamed.context.close()
})

test('a log that somebody changed is told as broken', async () => {
  const [row] = await site.vault.sql<{ seq: string }>('select max(position) as seq from audit_seals')
  await site.vault.sql(`update audit set env = 'other' where seq = $1`, [row?.seq])
  const { page, problems, context } = await site.open('/audit', DESKTOP, ADMIN_TOKEN)
  await page.getByText('✗ Broken:').waitFor()
  await page.getByText(`row ${row?.seq ?? ''}`).waitFor()
  expect(await problems('audit-broken')).toEqual([])
  await context.close()
})

test('an auditor of one project reads that one, and is offered no change', async () => {
  const token = await site.tokenOf({ name: 'Ada', role: 'auditor', projects: ['shop'] })
  const { page, problems, context } = await site.open('', DESKTOP, token)
  await page.getByText('each has a key').waitFor()
  expect(await page.getByRole('link', { name: 'Administrators' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Projects' }).first().click()
  await page.getByText('1 project', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0)
  await page.getByRole('link', { name: 'shop' }).click()
  await page.getByText('newest', { exact: true }).waitFor()
  expect(await problems('auditor-project')).toEqual([])
  expect(await page.getByRole('button', { name: /Rotate|Revoke|Delete|digest/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'Secrets' }).click()
  await page.getByRole('button', { name: /Versions of DATABASE_URL in production/ }).click()
  await page.getByText('Version 1').waitFor()
  expect(await page.getByRole('button', { name: /Restore|Delete/ }).count()).toBe(0)
  await context.close()
})

test.each(['/projects/nobody', '/no/such/page'])('%s leads nowhere, and says so', async (path) => {
  const { page, problems, context } = await site.open(path, DESKTOP, ADMIN_TOKEN)
  await page.getByText('There is nothing at this address.').waitFor()
  expect(await problems('not-found')).toEqual([])
  await context.close()
})
