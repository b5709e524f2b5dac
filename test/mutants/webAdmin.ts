import type { Mutant } from '../mutants.ts';

const filters = 'packages/web/src/admin/audit/filters.ts';
const scale = 'packages/web/src/admin/charts/scale.ts';
const condition = 'packages/web/src/admin/connections/condition.ts';

export const webAdmin: readonly Mutant[] = [
  {
    id: 'web.charts.scale',
    file: scale,
    find: 'largest / power <= candidate * (1 + 1e-9)',
    replace: 'largest / power <= candidate * 1.2',
  },
  {
    id: 'web.charts.values',
    file: scale,
    find: 'Math.min(count - 1, Math.max(0, Math.floor(share * count)))',
    replace: 'Math.max(0, Math.floor(share * count))',
  },
  {
    id: 'web.connections.condition',
    file: condition,
    find: "if (isBreakerOpen) return 'breaker';",
    replace: "if (isBreakerOpen && !isServing) return 'breaker';",
  },
  {
    id: 'web.connections.condition',
    file: condition,
    find: 'rank(a) - rank(b) || ',
    replace: '',
  },
  {
    id: 'web.audit.filters',
    file: filters,
    find: "if (value === '' || value.length > LONGEST) return undefined;",
    replace: "if (value === '') return undefined;",
  },
  {
    id: 'web.audit.filters',
    file: filters,
    find: 'return (auditKinds as readonly string[]).includes(value) ? value : undefined;',
    replace: 'return value;',
  },
  {
    id: 'web.audit.events',
    file: 'packages/web/src/admin/audit/readEvent.ts',
    find: "return typeof value === 'string' ? value : '';",
    replace: "return (value ?? '') as string;",
  },
  {
    id: 'web.config.masked',
    file: 'packages/web/src/admin/config/configNode.ts',
    find: "part === secretMask ? 'secret'",
    replace: "text === secretMask ? 'secret'",
  },
  {
    id: 'web.keys.life',
    file: 'packages/web/src/settings/keyLife.ts',
    find: "expiresAt - now <= SOON_DAYS * DAY_MS ? 'expiring'",
    replace: "expiresAt - now <= DAY_MS ? 'expiring'",
  },
  {
    id: 'ui.admin.switch',
    file: 'packages/web/src/admin/roles/PermissionSwitch.tsx',
    find: 'disabled={isManaged}',
    replace: 'disabled={false}',
  },
  {
    id: 'ui.admin.users',
    file: 'packages/web/src/admin/users/UserSessions.tsx',
    find: 'mutationFn: () => endUserSessions(user.id),',
    replace: 'mutationFn: () => Promise.resolve(1),',
  },
  {
    id: 'ui.settings.keys',
    file: 'packages/web/src/settings/ApiKeysSection.tsx',
    find: 'mutationFn: () => deleteKey(apiKey.id),',
    replace: 'mutationFn: () => Promise.resolve(),',
  },
  {
    id: 'ui.admin.config',
    file: 'api/src/admin/shownEnvironment.ts',
    find: 'const show = isSecret ? shownSecret : shownValue;',
    replace: 'const show = shownValue;',
  },
];
