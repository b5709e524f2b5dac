import type { Mutant } from '../mutants.ts';

export const foundation: readonly Mutant[] = [
  {
    id: 'http.csrf',
    file: 'api/src/middleware/csrf.ts',
    find: 'if (origin !== undefined && origins().isOwn(origin)) return;',
    replace: 'if (origin !== undefined) return;',
  },
  {
    id: 'http.csrf',
    file: 'api/src/middleware/csrf.ts',
    find: 'if (origin === undefined && cookie().read(req) === null) return;',
    replace: 'if (origin === undefined) return;',
  },
  {
    id: 'http.csrf',
    file: 'api/src/middleware/csrf.ts',
    find: "req.headers['x-behalf-csrf'] === '1'",
    replace: "req.headers['x-behalf-csrf'] !== undefined",
  },
  {
    id: 'http.csrf',
    file: 'api/src/middleware/csrf.ts',
    find: "/^Bearer /i.test(req.headers.authorization ?? '')",
    replace: 'req.headers.authorization !== undefined',
  },
  {
    id: 'http.deny-by-default',
    file: 'api/src/app.ts',
    find: "if (route.access === 'public') return route.handle(req, res);",
    replace:
      "if (route.access !== 'admin') return (route.handle as (...all: unknown[]) => void)(req, res, {});",
  },
  {
    id: 'http.admin-only',
    file: 'api/src/door/admission.ts',
    find: '!isAdmin(caller)',
    replace: "caller.role === 'NOBODY'",
  },
  { id: 'http.session-cookie', file: 'api/src/cookies.ts', find: 'HttpOnly; ', replace: '' },
  {
    id: 'http.session-cookie',
    file: 'api/src/cookies.ts',
    find: "origins.secure ? '; Secure' : ''",
    replace: "origins.secure ? '' : ''",
  },
  {
    id: 'http.logout.cookie',
    file: 'api/src/rest/auth/logout.ts',
    find: '      cookie().erase(res);\n      if (ended)',
    replace: '      if (ended)',
  },
  {
    id: 'http.logout',
    file: 'api/src/rest/auth/logout.ts',
    find: 'secret === null ? null : await sessions.end(secret)',
    replace: 'sessions && null',
  },
  {
    id: 'http.pages.escape',
    file: 'api/src/pages/html.ts',
    find: 'String(value).replace(/[&<>"\']/g, (character) => `&#${character.charCodeAt(0)};`)',
    replace: 'String(value)',
  },
  {
    id: 'http.headers',
    file: 'api/src/door/securityHeaders.ts',
    find: 'frameAncestors: ["\'none\'"],',
    replace: 'frameAncestors: ["*"],',
  },
  {
    id: 'start.foreign-key.exit-78',
    file: 'api/src/compose.ts',
    find: 'if (!(await storeStep(targets, () => keyFitsStore(primary.system, keyring)))) {',
    replace:
      'if (!(await storeStep(targets, () => keyFitsStore(primary.system, keyring))) && env.PORT < 0) {',
  },
  {
    id: 'start.setup-link.not-with-openid',
    file: 'api/src/compose.ts',
    find: 'if (env.OPENID_ISSUER !== undefined) return null;',
    replace: '',
  },
  {
    id: 'start.sample-only-on-loopback',
    file: 'api/src/configuration.ts',
    find: 'if (isLoopbackHost(env.HOST)) {',
    replace: 'if (isLoopbackHost(env.HOST) || env.PORT >= 0) {',
  },
  {
    id: 'start.no-secret-in-log',
    file: 'api/src/rest/auth/login.ts',
    find: "logger.warn('Sign-in refused',",
    replace: 'logger.warn(`Sign-in refused ${(req.body as { password: string }).password}`,',
  },
  {
    id: 'start.invalid-config.exit-78',
    file: 'api/src/startError.ts',
    find: 'throw new StartError(error.message, EXIT_CONFIG);',
    replace: 'throw new StartError(error.message, 1);',
  },
  {
    id: 'start.reload.keeps-old',
    file: 'api/src/configuration.ts',
    find: 'if (!next.ok) return next;',
    replace: 'if (!next.ok) { settings = { ...settings, servers: [] }; return next; }',
  },
  {
    id: 'start.restrictions.fail-closed',
    file: 'packages/gateway/src/registry/whyNotOffered.ts',
    find: "if (usesOwnGrant(server) && scopeOf(server, source).scope !== 'app') {",
    replace: 'if (false) {',
  },
  {
    id: 'start.restrictions.enforced',
    file: 'api/src/composeServers.ts',
    find: '    policy = createToolPolicy(settings.endpoints.toolApproval);',
    replace: '',
  },
  {
    id: 'start.restrictions.enforced',
    file: 'api/src/composeServers.ts',
    find: 'sees: acl.sees,',
    replace: 'sees: () => true,',
  },
  {
    id: 'stdio.environment.inherited',
    file: 'packages/gateway/src/registry/renderTarget.ts',
    find: "['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ']",
    replace: "['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'CREDS_KEY']",
  },
  {
    id: 'http.foreign-host',
    file: 'api/src/origins.ts',
    find: "acceptsHost: (host) => !loopback || isLoopbackHost((host ?? '').replace(/:\\d+$/, '')),",
    replace: 'acceptsHost: () => !loopback || port > 0,',
  },
  {
    id: 'start.evicted',
    file: 'api/src/ops/presence.ts',
    find: 'if (!ended) onEvicted();',
    replace: '',
  },
  {
    id: 'start.failures-are-words',
    file: 'api/src/main.ts',
    find: 'error instanceof StartError ? error.message :',
    replace: 'error instanceof TypeError ? error.message :',
  },
  {
    id: 'start.drain',
    file: 'api/src/composeServers.ts',
    find: '  closers.add(() => connections.close());',
    replace: '',
  },
];
