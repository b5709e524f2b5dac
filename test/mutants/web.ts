import type { Mutant } from '../mutants.ts';

const routes = 'api/src/web/routes.ts';
const headers = 'api/src/web/interfaceHeaders.ts';
const send = 'api/src/web/sendFile.ts';
const check = 'packages/gateway/src/configure/checkServer.ts';
const tools = 'packages/gateway/src/toolcall/listServerTools.ts';

export const web: readonly Mutant[] = [
  {
    id: 'web.pages.signed-in',
    file: routes,
    find: 'if (caller) showInterface(res, caller);',
    replace: 'if (caller ?? req.headers.cookie) showInterface(res, caller as UserPrincipal);',
  },
  {
    id: 'web.pages.return',
    file: routes,
    find: "returnPath(typeof returnTo === 'string' ? returnTo : undefined)",
    replace: "typeof returnTo === 'string' && returnTo !== '' ? returnTo : '/'",
  },
  { id: 'web.pages.return', file: routes, find: 'returnPath(req.originalUrl)', replace: 'req.originalUrl' },
  {
    id: 'web.pages.return',
    file: 'api/src/rest/auth/login.ts',
    find: "returnPath(typeof returnTo === 'string' ? returnTo : undefined)",
    replace: "typeof returnTo === 'string' && returnTo !== '' ? returnTo : '/'",
  },
  { id: 'web.pages.headers', file: routes, find: '.set(interfaceHeaders)', replace: '' },
  { id: 'web.pages.headers', file: headers, find: `  "trusted-types 'none'",\n`, replace: '' },
  {
    id: 'web.pages.headers',
    file: headers,
    find: `"script-src 'self'"`,
    replace: `"script-src 'self' 'unsafe-inline'"`,
  },
  {
    id: 'web.assets.others',
    file: 'api/src/web/readWeb.ts',
    find: 'TYPES.get(extname(path));',
    replace: "TYPES.get(extname(path)) ?? 'text/plain';",
  },
  {
    id: 'web.assets.compressed',
    file: send,
    find: "if (br && req.acceptsEncodings('br'))",
    replace: 'if (br)',
  },
  // A cache that has one form would answer with it for the other.
  { id: 'web.assets.compressed', file: send, find: '`${tag}-br`', replace: 'tag' },
  { id: 'web.check.stores-nothing', file: check, find: 'changed: [] }', replace: "changed: ['url'] }" },
  {
    id: 'web.check.told',
    file: check,
    find: "    parts.audit.note({ ...attempt, ...trail, outcome: 'ok' });\n",
    replace: '',
  },
  {
    id: 'web.check.refused',
    file: check,
    find: 'recorded(parts.audit, attempt,',
    replace: 'recorded({ ...parts.audit, note: () => undefined }, attempt,',
  },
  {
    id: 'web.check.same',
    file: 'packages/gateway/src/configure/judgeChange.ts',
    find: '  requireOboPermission(parts, caller, before, definition);\n',
    replace: '',
  },
  {
    id: 'web.tools.policy',
    file: tools,
    find: 'const server = findServer(parts, principal, name);',
    replace:
      'const server = parts.registry.find(principal.tenant, name) as never;\n  findServers(parts, principal);',
  },
  { id: 'web.tools.policy', file: tools, find: "=== 'ask'", replace: "=== 'run'" },
  {
    id: 'web.tools.details',
    file: tools,
    find: 'findServers(parts, principal).flatMap(',
    replace: 'parts.registry.list(principal.tenant).flatMap(',
  },
];
