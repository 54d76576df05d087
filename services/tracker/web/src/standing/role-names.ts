export const ROLE_NAMES = { member: 'Member', moderator: 'Moderator', admin: 'Administrator' } as const
